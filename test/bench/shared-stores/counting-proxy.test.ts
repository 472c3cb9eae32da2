import t from 'tap'
import { postgresStatements, redisCommands } from './counting-proxy.ts'

/** A message of the PostgreSQL protocol: its type, unless it is the first of a connection, its length and its bytes. */
function message(type: string, body: string): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(4 + body.length)
  return Buffer.concat([Buffer.from(type), length, Buffer.from(body)])
}

t.test('counts statements of Postgres, whatever pieces they come in', async t => {
  // The body of a Bind may contain the letters of other types.
  const sent = Buffer.concat([
    message('', 'EQ startup'),
    message('P', 'select 1'),
    message('B', 'EEQQ'),
    message('E', ''),
    message('S', ''),
    message('Q', 'select 2'),
  ])
  for (const size of [1, 2, 7, sent.length]) {
    const count = postgresStatements()
    let statements = 0
    for (let at = 0; at < sent.length; at += size) statements += count(sent.subarray(at, at + size))
    t.equal(statements, 2, `in pieces of ${size}`)
  }
})

t.test('leaves out chores, by the text of a prepared statement and of a simple one', async t => {
  const count = postgresStatements(text => text.startsWith('select news'))
  const run = (name: string): Buffer => Buffer.concat([message('B', `\0${name}\0`), message('E', '\0')])
  count(message('', 'startup'))
  t.equal(count(Buffer.concat([message('P', 'a\0select news\0'), run('a')])), 0)
  t.equal(count(Buffer.concat([message('P', 'b\0select 1\0'), run('b'), run('a'), run('b')])), 2)
  t.equal(count(Buffer.concat([message('P', '\0select news again\0'), run('')])), 0)
  t.equal(count(Buffer.concat([message('Q', 'select news\0'), message('Q', 'commit\0')])), 1)
})

t.test('counts commands of Redis, also several in one piece', async t => {
  t.equal(redisCommands()(Buffer.from('*2\r\n$3\r\nGET\r\n$1\r\na\r\n*1\r\n$4\r\nPING\r\n')), 2)
})
