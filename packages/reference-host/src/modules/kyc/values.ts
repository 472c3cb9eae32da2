import { counted } from '@gatewright/host/internal'
import type { Surface } from '@gatewright/kernel/internal'
import * as Type from 'typebox/type'
import { type Operation, readOperation } from '@gatewright/host'
import { component, text } from '@gatewright/host/schemas'
import { describeFields, KycBody } from './fields.ts'
import { OCCUPATIONS } from './occupations.ts'
import { PURPOSES, salaries, volumes } from './vocabulary.ts'

/** An upper bound for the length of these lists, which are constants of the host. */
const MOST = 100

const KycField = Type.Object(
  {
    name: text('Name in the body; members of objects with a dot'),
    required: Type.Boolean(),
    type: text('JSON type'),
    minLength: Type.Optional(Type.Integer()),
    maxLength: Type.Optional(Type.Integer()),
    regex: Type.Optional(text('What the text must match')),
    enum: Type.Optional(Type.Array(Type.String(), { maxItems: MOST })),
    description: text('What it is'),
  },
  component('KycField', 'A field of the application'),
)
const ResponseData = Type.Object(
  {
    fields: Type.Array(KycField, { maxItems: MOST }),
    occupations: Type.Array(Type.Object({ code: Type.String(), label: Type.String() }), { maxItems: MOST }),
    annualSalary: Type.Array(Type.String(), { maxItems: MOST }),
    expectedMonthlyVolume: Type.Array(Type.String(), { maxItems: MOST }),
    accountPurpose: Type.Array(Type.String(), { maxItems: MOST }),
  },
  component('KycValues', 'What an application must say, and the values that it may have'),
)

/** `GET /user/v1/kyc/values`, `/partner/v1/kyc/values`: describes the form, from the schema that checks it. */
export function kycValues(surface: Surface): Operation {
  const values = {
    fields: describeFields(KycBody[surface]),
    occupations: [...OCCUPATIONS],
    annualSalary: [...salaries.shown],
    expectedMonthlyVolume: [...volumes.shown],
    accountPurpose: [...PURPOSES],
  }
  return readOperation({
    id: 'kyc.values',
    title: 'List fields of an application',
    details: 'With the values that each may have.',
    surface,
    paths:
      surface === 'user' ? ['/user/v1/kyc/values'] : ['/partner/v1/kyc/values', '/partner/v1/kyc/schema'],
    scopes: ['kyc.read'],
    response: ResponseData,
    example: { ...values, fields: values.fields.slice(0, 2).map(field => ({ ...field, enum: [] })) },
    read: async () => ({ data: { ...values }, summary: `${counted(values.fields.length, 'fields')}.` }),
  })
}
