import { responseHeaders, listAliases, type AliasMode } from '@gatewright/legacy-alias-router'
import t from 'tap'

const since = Date.UTC(2026, 0, 1)
const use = (mode: AliasMode, successor?: string) => {
  const [alias] = listAliases({ prefixes: [{ from: '/a', to: '/b', mode }] })
  return { alias: alias!, ...(successor === undefined ? {} : { successor }) }
}

t.test('returns nothing for names that are served or gone', async t => {
  t.same(responseHeaders([]), [])
  t.same(responseHeaders([use('serve', '/b'), use('gone', '/b')]), [])
})

t.test('returns the deprecation date as @ and seconds (RFC 9745), also a future one', async t => {
  t.same(responseHeaders([use({ deprecatedSince: since })]), [['Deprecation', '@1767225600']])
  t.same(responseHeaders([use({ deprecatedSince: since + 999 })]), [['Deprecation', '@1767225600']])
  t.same(responseHeaders([use({ deprecatedSince: Date.UTC(2099, 0, 1) })]), [['Deprecation', '@4070908800']])
})

t.test('returns the sunset as an HTTP date (RFC 8594), and links', async t => {
  const mode = {
    deprecatedSince: since,
    sunset: Date.UTC(2027, 5, 30, 12),
    link: 'https://example.com/legacy',
  }
  t.same(responseHeaders([use(mode, '/b/keys')]), [
    ['Deprecation', '@1767225600'],
    ['Sunset', 'Wed, 30 Jun 2027 12:00:00 GMT'],
    ['Link', '</b/keys>; rel="successor-version", <https://example.com/legacy>; rel="deprecation"'],
  ])
})

t.test('combines all names used: the earliest deprecation, the earliest sunset, each link once', async t => {
  const link = '/docs'
  const one = use({ deprecatedSince: since, sunset: Date.UTC(2028, 0, 1), link }, '/b/x')
  const other = use({ deprecatedSince: since - 86_400_000, sunset: Date.UTC(2027, 0, 1), link })
  t.same(responseHeaders([one, other, use('serve')]), [
    ['Deprecation', '@1767139200'],
    ['Sunset', 'Fri, 01 Jan 2027 00:00:00 GMT'],
    ['Link', '</b/x>; rel="successor-version", </docs>; rel="deprecation"'],
  ])
})
