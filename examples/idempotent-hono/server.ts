// node build/examples/idempotent-hono/server.js [file]   PORT: default 8787, 0 for any free one.
import { serve } from '@hono/node-server'
import { fromSqlite } from '@gatewright/kernel/sql'
import Database from 'libsql'
import { createApp, setUp } from './app.ts'

const file = process.argv[2] ?? 'idempotent-hono.sqlite'
const open = (): Database.Database => {
  const database = new Database(file)
  database.exec('pragma journal_mode = wal; pragma synchronous = full; pragma busy_timeout = 5000')
  return database
}
const [writer, reader] = [open(), open()]
const db = fromSqlite(writer, reader)
await setUp(db)
const { app, drained } = createApp(db)
const port = Number(process.env['PORT'] ?? 8787)
const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port }, info => {
  console.log(`listening on http://127.0.0.1:${info.port}`)
})

process.once('SIGTERM', () => {
  // No new connections. The callback runs when every response has been sent; then the runs whose clients are gone end.
  server.close(async () => {
    await drained()
    writer.close()
    reader.close()
  })
})
