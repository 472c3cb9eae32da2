// A server that ends: before it listens (`start`), at its tenth request (`load`), or once it has sent 200 (`last`).
import { createServer } from 'node:http'
import { serve } from '../serve.ts'

const [kind] = process.argv.slice(2)
if (kind === 'start') process.exit(3)
let requests = 0
const server = createServer((_, response) => {
  if (++requests === 10 && kind === 'load') process.exit(4)
  if (requests === 200) response.once('finish', () => process.exit(5))
  response.end('ok')
})
serve(server)
