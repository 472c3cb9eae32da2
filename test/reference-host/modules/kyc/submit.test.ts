import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { openTestHost } from '../../../harness/host.ts'
import { kycBody, kycPartnerUser, kycUser, type Person } from '../../harness/kyc.ts'

const clock = manualClock(Date.now())
const host = await openTestHost(t, {}, clock)
const newPerson = (surface: Person['surface']): Promise<Person> =>
  surface === 'user' ? kycUser(host, clock.now()) : kycPartnerUser(host)

for (const surface of ['user', 'partner'] as const) {
  void t.test(`decides by the last name, in the spelling of the ${surface} surface`, async t => {
    for (const [lastName, snake, camel] of [
      ['Approved', 'approved', 'approved'],
      ['Smithapproved', 'approved', 'approved'],
      ['DENIED', 'denied', 'denied'],
      ['Information', 'needs_information', 'needsInformation'],
      ['Verification', 'needs_verification', 'needsVerification'],
    ] as const) {
      const one = await newPerson(surface)
      const response = await one.submit(kycBody(lastName))
      const status = surface === 'user' ? camel : snake
      t.match(one.application(response), { status, isActive: status === 'approved' }, lastName)
      t.same(one.application(await one.call('/kyc/status')), one.application(response))
    }
  })

  void t.test(`links are objects for users and texts for partners: ${surface}`, async t => {
    const one = await newPerson(surface)
    const { completionLink } = one.application(await one.submit(kycBody('Verification')))
    const url = /^http:\/\/.*\/identity\/kyc$/
    t.match(completionLink, surface === 'user' ? { url, params: {} } : url)
  })

  void t.test(`accepts the same fields again while pending, and denies others: ${surface}`, async t => {
    const one = await newPerson(surface)
    const first = await one.submit(kycBody('Smith'))
    t.match(one.application(first), { status: 'pending', isActive: false, completionLink: null })
    const again = await one.submit(kycBody('Smith', { annualSalary: '0-40000', countryOfIssue: 'US' }))
    t.same([again.status, one.application(again)], [200, one.application(first)], 'other words for the same')
    const denial =
      surface === 'user'
        ? { status: 400, body: { error: 'invalid_request', field: 'status' } }
        : { status: 409, body: { error: 'invalid_state' } }
    t.match(await one.submit(kycBody('Smith', { nationalId: 'OTHER' })), denial)
    clock.advance(120_000)
    await host.chore('run jobs')
    t.equal(await one.status(), 'approved')
    t.match(await one.submit(kycBody('Smith')), denial, 'it is decided')
  })

  void t.test(`submits again after more information was asked for: ${surface}`, async t => {
    const one = await newPerson(surface)
    const first = one.application(await one.submit(kycBody('Information')))
    const second = one.application(await one.submit(kycBody('Approved')))
    t.match([first['reason'], second['reason'], second['status']], [String, null, 'approved'])
    t.not(first['id'], second['id'], 'to the provider it is another application')
  })

  void t.test(`simulates the operator, in either spelling: ${surface}`, async t => {
    const one = await newPerson(surface)
    const decide = async (body: object): Promise<unknown> =>
      one.application(await one.call('/sandbox/kyc', body))
    t.match(await decide({ status: 'needsVerification', reason: 'A document is unreadable.' }), {
      status: surface === 'user' ? 'needsVerification' : 'needs_verification',
      reason: 'A document is unreadable.',
    })
    t.match(await decide({ status: 'manual_review' }), { reason: null })
    t.match(await decide({ status: 'approved' }), { status: 'approved', isActive: true })
    t.match(await decide({ status: 'locked' }), { status: 'locked', isActive: false })
    t.match(await one.call('/sandbox/kyc', { status: 'not_submitted' }), {
      status: 400,
      body: { field: 'status' },
    })
  })
}

t.test('is pending during an outage, and goes on by itself', async t => {
  const one = await kycPartnerUser(host)
  t.match(one.application(await one.submit(kycBody('Outage'))), { status: 'pending' })
  t.match(host.failures.splice(0), [{ code: 'ERR_PROVIDER_UNAVAILABLE' }])
  for (const ms of [5000, 30_000]) {
    clock.advance(ms)
    await host.chore('run jobs')
  }
  t.equal(await one.status(), 'approved')
  host.failures.splice(0)
})

t.test('nothing submitted: 404 for users, a status for partners, and users.resolve reports it', async t => {
  const user = await kycUser(host, clock.now())
  t.match(await user.call('/kyc/status'), { status: 404, body: { error: 'not_found' } })
  const one = await kycPartnerUser(host, 'kim')
  t.match((await one.call('/kyc/status')).body.data, {
    id: null,
    status: 'not_submitted',
    reason: null,
    completionLink: null,
    externalVerificationLink: null,
    isActive: false,
    isTermsOfServiceAccepted: false,
  })
  const resolved = async (): Promise<unknown> => {
    const headers = { 'x-partner-key': host.partnerKey }
    const { body } = await host.send('/partner/v1/users/resolve', { body: { userId: 'kim' }, headers })
    return body.data['kycStatus']
  }
  t.equal(await resolved(), 'not_submitted')
  await one.submit(kycBody('Verification'))
  t.equal(await resolved(), 'needs_verification')
})

t.test('20 submissions at once make one application', async t => {
  const one = await kycPartnerUser(host)
  const responses = await Promise.all(Array.from({ length: 20 }, () => one.submit(kycBody('Smith'))))
  t.same(new Set(responses.map(({ status }) => status)), new Set([200]))
  t.equal(new Set(responses.map(each => one.application(each)['id'])).size, 1)
})

t.test('names the field that is wrong', async t => {
  const user = await kycUser(host, clock.now())
  const partner = await kycPartnerUser(host)
  const year = new Date(clock.now()).getUTCFullYear()
  const address = kycBody('X')['address'] as object
  for (const [extra, field] of [
    [{ firstName: '', lastName: null }, 'firstName'],
    [{ firstName: ' ', lastName: undefined }, 'firstName'],
    [{ firstName: 7 }, 'firstName'],
    [{ firstName: 'x'.repeat(51) }, 'firstName'],
    [{ lastName: 'x'.repeat(51) }, 'lastName'],
    [{ birthDate: '1990-02-30' }, 'birthDate'],
    [{ birthDate: `${year - 10}-01-01` }, 'birthDate'],
    [{ birthDate: '1850-01-01' }, 'birthDate'],
    [{ countryOfIssue: 'USA' }, 'countryOfIssue'],
    [{ email: 'nobody' }, 'email'],
    [{ address: { ...address, line1: undefined } }, 'address.line1'],
    [{ address: { ...address, countryCode: '1' } }, 'address.countryCode'],
    [{ occupation: 'king' }, 'occupation'],
    [{ annualSalary: 'much' }, 'annualSalary'],
    [{ expectedMonthlyVolume: '1' }, 'expectedMonthlyVolume'],
    [{ accountPurpose: 'fun' }, 'accountPurpose'],
    [{ nationalId: 'a b' }, 'nationalId'],
    [{ phoneNumber: '5551234' }, 'phoneCountryCode'],
    [{ phoneCountryCode: '1' }, 'phoneNumber'],
    [{ phoneNumber: '5551234', phoneCountryCode: '' }, 'phoneCountryCode'],
    [{ phoneCountryCode: '1', phoneNumber: null }, 'phoneNumber'],
    [{ address: { ...address, postalCode: '' } }, 'address.postalCode'],
    [{ address: { ...address, region: null } }, 'address.region'],
    [{ address: { ...address, city: ' ' } }, 'address.city'],
    [{ address: { ...address, line1: '' } }, 'address.line1'],
  ] as const) {
    const response = await user.submit(kycBody('X', extra))
    t.match(response, { status: 400, body: { error: 'invalid_request', field } }, JSON.stringify(extra))
  }
  t.match(await partner.submit(kycBody('X', { nationalId: undefined })), {
    status: 400,
    body: { error: 'invalid_request' },
  })
  const free = { nationalId: undefined, annualSalary: '100k-149k', expectedMonthlyVolume: '$1k–$5k' }
  const phone = { phoneCountryCode: '1', phoneNumber: '5551234', referralCode: 'whatever' }
  t.match(await user.submit(kycBody('Approved', { ...free, ...phone })), { status: 200 })
})

/** Addresses of countries, with what an address there lacks. */
const ADDRESSES: readonly (readonly [country: string, given: object, missing?: string])[] = [
  ['HK', { city: 'Kowloon' }],
  ['HK', { city: 'Kowloon', region: null, postalCode: '' }],
  ['HK', {}],
  ['SG', { city: 'Singapore', postalCode: '018956' }],
  ['SG', { postalCode: '018956' }],
  ['SG', { city: 'Singapore' }, 'postalCode'],
  ['IE', { city: 'Galway' }],
  ['IE', { city: 'Galway', postalCode: 'H91 E2K3', region: 'Co. Galway' }],
  ['MO', {}],
  ['AE', { region: 'Dubai' }],
  ['AE', { city: 'Dubai' }, 'region'],
  ['QA', { city: 'Doha' }],
  ['QA', {}, 'city'],
  ['PA', { city: 'Panama City' }],
  ['ZW', { city: 'Harare' }],
  ['JM', { city: 'Kingston', region: 'St. Andrew' }],
  ['BS', { city: 'Nassau' }],
  ['MC', { city: 'Monaco', postalCode: '98000' }],
  ['DE', { city: 'Berlin', postalCode: '10115' }],
  ['DE', { city: 'Berlin' }, 'postalCode'],
  ['FR', { city: 'Paris', postalCode: '75001', region: '' }],
  ['GB', { city: 'London', postalCode: 'SW1A 1AA', region: null }],
  ['US', { city: 'Springfield', region: 'IL', postalCode: '62701' }],
  ['us', { city: 'Springfield', region: 'IL' }, 'postalCode'],
  ['US', { city: 'Springfield', postalCode: '62701' }, 'region'],
  ['CA', { city: 'Toronto', postalCode: 'M5V 2T6' }, 'region'],
  ['JP', { region: 'Tokyo', postalCode: '100-0001' }],
  ['XK', { city: 'Pristina' }],
]

t.test('requires the parts of an address that its country has', async t => {
  for (const [countryCode, given, missing] of ADDRESSES) {
    const user = await kycUser(host, clock.now())
    const response = await user.submit(
      kycBody('Approved', { address: { line1: '1 Main Street', countryCode, ...given } }),
    )
    const expected =
      missing === undefined
        ? { status: 200 }
        : { status: 400, body: { error: 'invalid_request', field: `address.${missing}` } }
    t.match(response, expected, `${countryCode} ${JSON.stringify(given)}`)
  }
})

t.test('takes one name for a name, and null and an empty text for an absent member', async t => {
  for (const [extra, status] of [
    [{ lastName: undefined, firstName: 'Approved' }, 'approved'],
    [{ lastName: '', firstName: 'Approved' }, 'approved'],
    [{ firstName: null }, 'approved'],
    [{ firstName: '' }, 'approved'],
    [{ nationalId: null, phoneNumber: null, phoneCountryCode: '', referralCode: '' }, 'approved'],
    [{ nationalId: '', phoneNumber: '', referralCode: null }, 'approved'],
  ] as const) {
    const user = await kycUser(host, clock.now())
    const response = await user.submit(kycBody('Approved', extra))
    t.match(response, { status: 200 }, JSON.stringify(extra))
    t.equal(user.application(response)['status'], status)
  }
  const user = await kycUser(host, clock.now())
  const address = kycBody('X')['address'] as object
  const first = await user.submit(kycBody('Smith', { address }))
  const again = await user.submit(kycBody('Smith', { address: { ...address, line2: '' }, phoneNumber: null }))
  t.same([again.status, user.application(again)], [200, user.application(first)], 'the same application')
})

t.test('describes its fields and values, made from what checks them', async t => {
  const user = (await (await kycUser(host, clock.now())).call('/kyc/values')).body.data
  const partner = await kycPartnerUser(host)
  const values = (await partner.call('/kyc/values')).body.data
  t.same((await partner.call('/kyc/schema')).body.data, values)
  const required = (data: typeof values): string[] =>
    (data['fields'] as { name: string; required: boolean }[])
      .filter(each => each.required)
      .map(each => each.name)
  t.same(
    required(values).filter(name => !required(user).includes(name)),
    ['nationalId'],
  )
  t.match(required(user), ['birthDate', 'countryOfIssue', 'email', 'address.line1', 'address.countryCode'])
  const described = (name: string) =>
    (user['fields'] as { name: string; description: string; maxLength?: number }[]).find(
      each => each.name === name,
    )
  t.match(described('firstName'), { maxLength: 50, description: /one name/ })
  t.match(described('address.region'), { maxLength: 50, description: /Required in AE, .*US/ })
  t.match(values, {
    accountPurpose: ['everyday spend', 'subscriptions', 'business expenses', 'testing', 'other'],
  })
  t.ok((values['annualSalary'] as string[]).includes('50k–99k'))
})
