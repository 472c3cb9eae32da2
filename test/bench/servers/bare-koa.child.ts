// Koa and @koa/router with the answers that a host gave. Arguments: what `bareKoa` takes, and the proof that goes with every
// request, so that both servers read the same bytes.
import { bareKoa, type Recorded } from '../bare-koa.ts'
import { serve } from '../serve.ts'

const [recorded, proof] = process.argv.slice(2) as [string, string]
serve(bareKoa(JSON.parse(recorded) as Recorded), [JSON.parse(proof) as Record<string, string>])
