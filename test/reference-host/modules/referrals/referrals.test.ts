import t from 'tap'
import { bearer, bootstrapUser, openTestHost, type HttpResponse } from '../../../harness/host.ts'
import { kycBody } from '../../harness/kyc.ts'

const host = await openTestHost(t, { RATE_LIMITS: 'off' })
const newUser = async (): Promise<string> => (await bootstrapUser(host.send)).token
const read = (token: string): Promise<HttpResponse> =>
  host.send('/user/v1/referrals', { headers: bearer(token) })
const apply = (token: string, code: unknown): Promise<HttpResponse> =>
  host.send('/user/v1/referrals', { body: { code }, headers: bearer(token) })
const referralOf = ({ body }: HttpResponse) =>
  body.data['referral'] as { code: string; joined: number; appliedCode: string | null }
const codeOf = async (token: string): Promise<string> => referralOf(await read(token)).code

t.test('makes one code of six consonants, also for 20 simultaneous first reads', async t => {
  const token = await newUser()
  const codes = await Promise.all(Array.from({ length: 20 }, () => codeOf(token)))
  t.equal(new Set(codes).size, 1)
  t.match(codes[0], /^[BCDFGHJKLMNPQRSTVWXZ]{6}$/)
  t.not(await codeOf(await newUser()), codes[0])
})

t.test('counts who applied a code, in any case, and returns it to whoever did', async t => {
  const inviter = await newUser()
  const code = await codeOf(inviter)
  t.same(referralOf(await read(inviter)), { code, joined: 0, appliedCode: null })
  for (const [index, spelled] of [code, code.toLowerCase()].entries()) {
    const friend = await newUser()
    const response = await apply(friend, spelled)
    t.match(response, { status: 200 })
    t.match(referralOf(response), { joined: 0, appliedCode: code })
    t.equal(referralOf(await read(inviter)).joined, index + 1)
    t.match(await apply(friend, code), { status: 200 }, 'the applied one again')
    t.equal(referralOf(await read(inviter)).joined, index + 1, 'counts once')
  }
})

t.test('denies an unknown code, its own, another one later, and an invalid code', async t => {
  const [one, two, token] = [await newUser(), await newUser(), await newUser()]
  const own = await codeOf(token)
  t.match(await apply(token, 'AEIOUA'), { status: 404, body: { error: 'not_found', field: 'code' } })
  const denied = { status: 400, body: { error: 'invalid_request', field: 'code' } }
  t.match(await apply(token, own), denied)
  for (const code of [undefined, '', 'BCDFG', 'BCDFGHJ', 'BCD1GH', 6])
    t.match(await apply(token, code), denied)
  t.equal((await apply(token, await codeOf(one))).status, 200)
  t.match(await apply(token, await codeOf(two)), denied)
  t.equal(referralOf(await read(token)).appliedCode, await codeOf(one))
})

t.test('of simultaneous applications of different codes, one stays', async t => {
  const codes = await Promise.all(Array.from({ length: 8 }, async () => codeOf(await newUser())))
  const token = await newUser()
  const responses = await Promise.all(codes.map(code => apply(token, code)))
  t.equal(responses.filter(({ status }) => status === 200).length, 1)
  t.equal(responses.filter(({ status }) => status === 400).length, 7)
  t.ok(codes.includes(referralOf(await read(token)).appliedCode as string))
  t.same(host.failures, [])
})

t.test('an identity check applies its referral code, and ignores one that does not apply', async t => {
  const code = await codeOf(await newUser())
  for (const [referralCode, appliedCode] of [
    [code.toLowerCase(), code],
    ['AEIOUA', null],
  ]) {
    const token = await newUser()
    const body = kycBody('Approved', { referralCode })
    t.match(await host.send('/user/v1/kyc', { body, headers: bearer(token) }), { status: 200 })
    t.equal(referralOf(await read(token)).appliedCode, appliedCode)
  }
})
