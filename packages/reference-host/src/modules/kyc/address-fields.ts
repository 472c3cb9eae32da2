/**
 * Which parts of an address its country requires, by two letters of ISO 3166-1. The facts are those of the address metadata that Google
 * publishes for forms (https://chromium-i18n.appspot.com/ssl-address, library libaddressinput, June 2025), which follow the addressing
 * guides of the Universal Postal Union. Hong Kong is an exception: its region there is an area such as Kowloon, which most people leave
 * out. Ireland has postal codes (Eircode) since 2015, and requires none. A country that is not listed requires a city only.
 */
const listed = (countries: string): ReadonlySet<string> => new Set(countries.split(/\s+/))

/** The countries in which an address has a postal code. In others some have one, or none. */
const POSTAL_CODE = listed(
  `AS AT AU AX BE BL BR CA CH CN CZ DE DK EE ES FI FK FM FR GB GF GG GL GP GR GS GU HU IM IN IO IT JE JP KR LI LT LU LV MF
  MH MP MQ MX MY NC NL NO NZ PF PL PM PN PR PT PW RE RO RU SE SG SH SJ SK SM TC TR TW UA US VI WF YT ZA`,
)
/** The countries in which an address has a region, such as a state, a province or an emirate. */
const REGION = listed(
  'AE AS AU BR CA CN CO CR ES FM HN ID IN IQ IT JM JP KN KR KY MH MP MX NR PF PG PW RU SO SV TW UM US VE VI VN',
)
/** The countries in which an address need not have a city: it has a region instead, or the country is one. */
const NO_CITY = listed('AE AG CO GI HK ID JP KY MO NR SG SM VG VN')

/** The parts of an address that depend on its country. Null: absent. */
export interface CountryFields {
  readonly city: string | null
  readonly region: string | null
  readonly postalCode: string | null
}

/** Returns the first part that the country requires and the address lacks. */
export function missingField(country: string, address: CountryFields): keyof CountryFields | undefined {
  if (address.city === null && !NO_CITY.has(country)) return 'city'
  if (address.region === null && REGION.has(country)) return 'region'
  return address.postalCode === null && POSTAL_CODE.has(country) ? 'postalCode' : undefined
}

/** Says where each part is required, for the description of the form. */
export const requiredIn: Readonly<Record<keyof CountryFields, string>> = {
  city: `Required, but not in ${[...NO_CITY].join(', ')}`,
  region: `State, province or emirate. Required in ${[...REGION].join(', ')}`,
  postalCode: `Required in ${[...POSTAL_CODE].join(', ')}`,
}
