import { allow, type Verdict, type EpochMs } from '@gatewright/kernel'
import type { Surface } from '@gatewright/kernel/internal'
import * as Type from 'typebox/type'
import type { Static } from 'typebox/type'
import { component, nameText } from '@gatewright/host/schemas'
import type { HostDenial } from '@gatewright/host'
import { deny } from '../../product/denials.ts'
import type { KycApplication } from '../../providers/kyc/port.ts'
import { missingField, requiredIn } from './address-fields.ts'
import { OCCUPATION_PATTERN } from './occupations.ts'
import { PURPOSES, salaries, volumes } from './vocabulary.ts'

/** A member that may be left out. Null and an empty text are absent, because forms send them for empty fields. */
const optional = <T extends Type.TSchema>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null(), Type.Enum([''])]))
const described = <T extends object>(schema: T, description: string): T => ({ ...schema, description })
const country = (description: string) => Type.String({ pattern: '^[A-Za-z]{2}$', description })
const NationalId = Type.String({
  pattern: '^[0-9A-Za-z-]{1,40}$',
  description: 'Number of an identity document',
})

const common = {
  firstName: optional(
    described(nameText(1, 50), 'First name. A person with one name sends it as one of both'),
  ),
  lastName: optional(described(nameText(1, 50), 'Last name')),
  birthDate: Type.String({
    pattern: '^\\d{4}-\\d{2}-\\d{2}$',
    description: 'YYYY-MM-DD; 18 to 120 years ago',
  }),
  countryOfIssue: country('Country of the identity document, two letters (ISO 3166-1)'),
  email: Type.String({
    pattern: '^[^\\s@\\u0000-\\u001f]{1,64}@[A-Za-z0-9.-]{1,189}$',
    maxLength: 254,
    description: 'E-mail address',
  }),
  address: Type.Object({
    line1: nameText(1, 100),
    line2: optional(nameText(1, 100)),
    city: optional(described(nameText(1, 50), requiredIn.city)),
    region: optional(described(nameText(1, 50), requiredIn.region)),
    postalCode: optional(described(nameText(1, 15), requiredIn.postalCode)),
    countryCode: country('Two letters (ISO 3166-1)'),
  }),
  occupation: Type.String({
    pattern: OCCUPATION_PATTERN,
    description:
      'A code of `occupations`, or any code of the US Standard Occupational Classification, such as `15-1132`',
  }),
  annualSalary: Type.Enum([...salaries.taken], { description: 'US dollars a year' }),
  accountPurpose: Type.Enum([...PURPOSES], { description: 'What the account is for' }),
  expectedMonthlyVolume: Type.Enum([...volumes.taken], { description: 'US dollars a month' }),
  phoneCountryCode: optional(
    Type.String({ pattern: '^\\d{1,3}$', description: 'With `phoneNumber`: country code, digits only' }),
  ),
  phoneNumber: optional(
    Type.String({ pattern: '^\\d{4,15}$', description: 'With `phoneCountryCode`: digits only' }),
  ),
  referralCode: optional(described(nameText(1, 40), 'Who recommended this; ignored when unknown')),
} as const

/** The body of an application, by surface: partners must name an identity document. */
export const KycBody = {
  user: Type.Object(
    { ...common, nationalId: optional(NationalId) },
    component('KycRequest', 'Who the person is'),
  ),
  partner: Type.Object(
    { ...common, nationalId: NationalId },
    component('PartnerKycRequest', 'Who the person is'),
  ),
} as const satisfies Record<Surface, Type.TObject>

type Fields = Static<(typeof KycBody)['user']>

/**
 * Converts a body to an application with the host's codes. Denial: `invalid_request` for an impossible date, an age under 18 or
 * over 120, no name, half of a phone number, or an address without a part that its country requires.
 */
export function readApplication(body: Fields, now: EpochMs): Verdict<KycApplication, HostDenial> {
  if (!isAdult(body.birthDate, now)) {
    const message = 'birthDate must be a date of 18 to 120 years ago'
    return deny('invalid_request', message, { field: 'birthDate' })
  }
  const [firstName, lastName] = [present(body.firstName), present(body.lastName)]
  if (firstName === null && lastName === null) {
    const message = 'firstName or lastName is required; a person with one name sends one of them'
    return deny('invalid_request', message, { field: 'firstName' })
  }
  const [phoneCountryCode, phoneNumber] = [present(body.phoneCountryCode), present(body.phoneNumber)]
  if ((phoneCountryCode === null) !== (phoneNumber === null)) {
    const field = phoneNumber === null ? 'phoneNumber' : 'phoneCountryCode'
    return deny('invalid_request', 'phoneCountryCode and phoneNumber must be sent together', { field })
  }
  const address = readAddress(body.address)
  if (!address.ok) return address
  const { birthDate, email, occupation, accountPurpose } = body
  return allow({
    firstName,
    lastName,
    birthDate,
    countryOfIssue: body.countryOfIssue.toUpperCase(),
    email,
    address: address.value,
    occupation,
    annualSalary: salaries.codeOf(body.annualSalary),
    accountPurpose,
    expectedMonthlyVolume: volumes.codeOf(body.expectedMonthlyVolume),
    nationalId: present(body.nationalId),
    phone: phoneNumber === null ? null : { countryCode: phoneCountryCode as string, number: phoneNumber },
  })
}

/** Returns a text that says something; null for one that is absent, empty or blank. */
export function present(text: string | null | undefined): string | null {
  return text?.trim() ? text : null
}

function readAddress(given: Fields['address']): Verdict<KycApplication['address'], HostDenial> {
  const countryCode = given.countryCode.toUpperCase()
  const [city, region, postalCode] = [given.city, given.region, given.postalCode].map(present) as [
    string | null,
    string | null,
    string | null,
  ]
  const missing = missingField(countryCode, { city, region, postalCode })
  if (missing) {
    const field = `address.${missing}`
    return deny('invalid_request', `${field} is required in ${countryCode}`, { field })
  }
  const { line1, line2 } = given
  return allow({ line1, line2: present(line2), city, region, postalCode, countryCode })
}

/** Whether a date exists, and a person born on it is 18 to 120 years old. */
function isAdult(date: string, now: EpochMs): boolean {
  const born = new Date(`${date}T00:00:00Z`)
  if (Number.isNaN(born.getTime()) || born.toISOString().slice(0, 10) !== date) return false
  const today = new Date(now).toISOString().slice(5, 10)
  const age = new Date(now).getUTCFullYear() - born.getUTCFullYear() - (today < date.slice(5) ? 1 : 0)
  return age >= 18 && age <= 120
}

/** The description of one field of the form, by `kyc.values`. */
interface DescribedField {
  readonly name: string
  readonly required: boolean
  readonly type: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly regex?: string
  readonly enum?: readonly string[]
  readonly description: string
}
interface FieldSchema {
  readonly type?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly enum?: readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, FieldSchema>>
  readonly required?: readonly string[]
  readonly anyOf?: readonly FieldSchema[]
}

/** Describes the fields of a schema; members of objects have names with dots. */
export function describeFields(schema: object, prefix = ''): DescribedField[] {
  const { properties = {}, required = [] } = schema as FieldSchema
  return Object.entries(properties).flatMap(([name, member]) => {
    // Of a member that may be null or empty, what it is otherwise.
    const field = member.anyOf?.[0] ?? member
    if (field.properties) return describeFields(field, `${prefix}${name}.`)
    const { minLength, maxLength, pattern, description = '' } = field
    return {
      name: prefix + name,
      required: required.includes(name),
      type: field.type ?? 'string',
      ...(minLength === undefined ? {} : { minLength }),
      ...(maxLength === undefined ? {} : { maxLength }),
      ...(pattern === undefined ? {} : { regex: pattern }),
      ...(field.enum ? { enum: field.enum } : {}),
      description,
    }
  })
}
