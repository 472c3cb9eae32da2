import t from 'tap'
import { compile } from '../../../harness/compile.ts'

const HOST = '../../packages/host/dist'
const PRELUDE = `
import * as Type from 'typebox/type'
import { ledgerWrite, operation } from '${HOST}/http/operations/operation.js'
`

/** A write with everything that it needs, and one member more. */
const write = (member: string): string => `ledgerWrite({
  id: 'bills.pay',
  title: 'Pay a bill',
  surface: 'user',
  method: 'POST',
  paths: ['/user/v1/bills/{billId}/pay'],
  credential: 'session',
  spends: 'spend',
  scopes: ['bills.write'],
  response: Type.Object({}),
  example: { response: {} },
  ${member}
  write: async () => ({ ok: true, value: { data: {}, summary: '' } }),
})`

/** A read with everything that it needs, and one member more. */
const read = (member: string): string => `operation({
  id: 'bills.list',
  title: 'List bills',
  surface: 'user',
  method: 'GET',
  paths: ['/user/v1/bills'],
  credential: 'session',
  response: Type.Object({}),
  example: { response: {} },
  ${member}
  handle: async () => ({ ok: true, value: { data: {}, summary: '' } }),
})`

const misspelt: Record<string, string> = {
  scopess: write("scopess: ['bills.write'],"),
  gatted: write('gatted: true,'),
  spend: write("spend: 'withdrawal',"),
  idempotence: write("idempotence: 'none',"),
  cardSecret: read('cardSecret: true,'),
  unknownMember: read("unknownMember: 'deny',"),
}

t.test('a misspelt member of an operation does not compile', async t => {
  const right = { write: write(''), read: read('') }
  const files = Object.entries({ ...right, ...misspelt }).map(([name, code]) => [
    `${name}.ts`,
    PRELUDE + code,
  ])
  const output = await compile('operation-types', Object.fromEntries(files))
  for (const name of Object.keys(right))
    t.notMatch(output, `${name}.ts(`, 'the operations without the misspelt member compile')
  for (const name of Object.keys(misspelt))
    t.match(output, new RegExp(`${name}\\.ts\\([^\\n]*'${name}' does not exist in type`))
})
