import * as Type from 'typebox/type'
import { idText, nameText } from '@gatewright/host/schemas'
import { jsonFile, type Parser } from '@gatewright/host/config'
import { MAX_AGREEMENTS, MAX_LINKS, MAX_NOTICES, type Product } from '../product/product.ts'

const strict = { additionalProperties: false }
const httpsUrl = Type.String({ pattern: '^https://[!-~]{1,2000}$' })
const orNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])
const instant = Type.String({ format: 'date-time' })

const ProductFile = Type.Object(
  {
    support: Type.Object(
      {
        email: orNull(Type.String({ pattern: '^[!-~]{1,64}@[!-~]{1,189}$' })),
        url: orNull(httpsUrl),
        statusUrl: orNull(httpsUrl),
        hours: orNull(nameText(1, 120)),
      },
      strict,
    ),
    spotlight: Type.Array(
      Type.Object(
        {
          id: idText(),
          title: nameText(1, 120),
          text: nameText(1, 2000),
          url: orNull(httpsUrl),
          startsAt: instant,
          endsAt: instant,
        },
        strict,
      ),
      { maxItems: MAX_NOTICES },
    ),
    agreements: Type.Array(
      Type.Object(
        {
          id: idText(),
          text: nameText(1, 10_000),
          links: Type.Array(Type.Object({ label: nameText(1, 120), url: httpsUrl }, strict), {
            maxItems: MAX_LINKS,
          }),
        },
        strict,
      ),
      { maxItems: MAX_AGREEMENTS },
    ),
  },
  strict,
)

const EXAMPLE =
  '{"support":{"email":null,"url":null,"statusUrl":null,"hours":null},"spotlight":[],"agreements":[{"id":"terms","text":"...","links":[]}]}'
const read = jsonFile<Product>(ProductFile, EXAMPLE)

/** The path of a JSON file with the texts of the product. */
export const productFile: Parser<Product> = path => {
  const result = read(path)
  if ('expected' in result) return result
  for (const list of ['spotlight', 'agreements'] as const) {
    const ids = result.value[list].map(({ id }) => id)
    const twice = ids.find((id, index) => ids.indexOf(id) !== index)
    if (twice !== undefined) return { expected: `lists ${twice} twice in ${list}` }
  }
  return result
}
