import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { openTestHost } from '../../../harness/host.ts'
import { kycBody, kycPartnerUser, kycUser, type Person } from '../../harness/kyc.ts'

const SPECIAL = ['SELFEMP', 'UNEMPLO', 'RETIRED', 'STUDENT', 'OTHERXX']
const clock = manualClock(Date.now())
const submitted: string[] = []
const host = await openTestHost(t, {}, clock, {
  kyc: {
    name: 'listener',
    async submit(_id, { occupation }) {
      submitted.push(occupation)
      const links = { completionLink: null, externalVerificationLink: null }
      return { version: null, status: 'approved', reason: null, ...links }
    },
  },
})
const person = (surface: Person['surface']): Promise<Person> =>
  surface === 'user' ? kycUser(host, clock.now()) : kycPartnerUser(host)

for (const surface of ['user', 'partner'] as const) {
  void t.test(`lists occupations with labels, and takes every one of them: ${surface}`, async t => {
    const { data } = (await (await person(surface)).call('/kyc/values')).body
    const listed = data['occupations'] as readonly { readonly code: string; readonly label: string }[]
    const codes = listed.map(({ code }) => code)
    t.ok(codes.filter(code => /^\d\d-\d{4}$/.test(code)).length >= 25, 'US codes')
    for (const code of [...SPECIAL, 'employee', 'homemaker']) t.ok(codes.includes(code), code)
    t.match(
      listed.find(({ code }) => code === '15-1132'),
      { label: 'Software Developers, Applications' },
    )
    for (const members of [codes, listed.map(({ label }) => label)])
      t.equal(new Set(members).size, members.length, 'each once')
    const [field] = (data['fields'] as { name: string; regex: string }[]).filter(
      ({ name }) => name === 'occupation',
    )
    const pattern = new RegExp(field?.regex ?? '^$')
    t.same(
      codes.filter(code => !pattern.test(code)),
      [],
    )
  })

  void t.test(`hands the provider the occupation that was sent, listed or not: ${surface}`, async t => {
    for (const occupation of ['15-1132', '15-1252', '99-9999', '00-0000', ...SPECIAL, 'employee', 'other']) {
      submitted.length = 0
      const response = await (await person(surface)).submit(kycBody('Smith', { occupation }))
      t.equal(response.status, 200, occupation)
      t.same(submitted, [occupation])
    }
  })

  void t.test(`denies an unknown occupation, and names the field: ${surface}`, async t => {
    const one = await person(surface)
    submitted.length = 0
    for (const occupation of [
      '',
      '151132',
      '15-113',
      '15-11322',
      '5-11322',
      '15–1132',
      '15-1132.00',
      ' 15-1132',
      '15-1132\n',
      'selfemp',
      'SELFEMPX',
      'Employee',
      '١٥-١١٣٢',
      'aa-bbbb',
      15,
      null,
      ['15-1132'],
    ])
      t.match(await one.submit(kycBody('Smith', { occupation })), {
        status: 400,
        body: { error: 'invalid_request', field: 'occupation' },
      })
    t.same(submitted, [])
  })
}
