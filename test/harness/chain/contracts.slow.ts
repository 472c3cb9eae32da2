import { readFileSync } from 'node:fs'
import t from 'tap'
import { committedContracts, compileContracts, CONTRACT_FILES } from './contracts.ts'

for (const file of CONTRACT_FILES) {
  t.test(`${file} compiles to what is committed beside it`, async t => {
    t.same(committedContracts(file), await compileContracts(file))
  })
}

t.test('the committed creation code of SignatureCheck is what its source compiles to', async t => {
  const { contracts } = await compileContracts('packages/signature-verifier/contracts/SignatureCheck.sol')
  const committed = readFileSync('packages/signature-verifier/src/signatures/signature-check.ts', 'utf8')
  const code = [...committed.matchAll(/^ +'([0-9a-f]+)',$/gm)].map(match => match[1]).join('')
  t.equal(`0x${code}`, contracts['SignatureCheck'])
})
