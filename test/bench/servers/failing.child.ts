// A server that ends: before it listens (`start`), or at its tenth request (`load`).
import { createServer } from 'node:http'
import { serve } from '../serve.ts'

if (process.argv[2] === 'start') process.exit(3)
let requests = 0
serve(createServer((_, response) => (++requests < 10 ? response.end('ok') : process.exit(4))))
