// Koa and @koa/router with the responses that a host gave. Arguments: what `bareKoa` takes, and the proof that goes with every
// request, so that both servers read the same bytes.
import { bareKoa, type RecordedResponse } from '../bare-koa.ts'
import { serve } from '../serve.ts'

const [recorded, proof] = process.argv.slice(2) as [string, string]
serve(bareKoa(JSON.parse(recorded) as RecordedResponse), [JSON.parse(proof) as Record<string, string>])
