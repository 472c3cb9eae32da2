// draft-ietf-httpapi-ratelimit-headers-11
import t from 'tap'
import { bench, field } from '../issuer.ts'

const rule = { operation: 'cards.list', allOf: ['cards.read'] }
const POLICY_ITEM = /^"([A-Za-z][\w-]{0,63})";q=(\d{1,15});w=([1-9]\d{0,14})$/
const LIMIT_ITEM = /^"([A-Za-z][\w-]{0,63})";r=(\d{1,15});t=(\d{1,15})$/

/** The items of a field, each as its name and its two integers. */
function itemsOf(value: string | undefined, pattern: RegExp): (string | number)[][] {
  return (value ?? '').split(', ').map(item => {
    const [, name = '', first, second] = pattern.exec(item) ?? []
    return [name, Number(first), Number(second)]
  })
}

t.test(
  'sends policies and limits as lists of strings with integers, also when a limit is used up',
  async t => {
    const limits = [
      { name: 'perKey', points: 2, windowSeconds: 60, per: 'key' as const },
      { name: 'per-session_1', points: 1000, windowSeconds: 86_400, per: 'session' as const },
    ]
    const { guard, bearer, clock } = await bench({ limits })
    const authorization = await bearer({ expiresAt: clock.now() + 1e9 })
    for (const left of [1, 0, 0]) {
      const verdict = await guard.check({ authorization }, rule)
      const headers = verdict.ok ? verdict.value.headers : verdict.headers
      t.same(itemsOf(field(headers, 'RateLimit-Policy'), POLICY_ITEM), [
        ['perKey', 2, 60],
        ['per-session_1', 1000, 86_400],
      ])
      const [[name, remaining, seconds] = [], second = []] = itemsOf(field(headers, 'RateLimit'), LIMIT_ITEM)
      t.same([name, remaining, second[0]], ['perKey', left, 'per-session_1'])
      t.ok(Number.isSafeInteger(second[1]))
      const retryAfter = field(headers, 'Retry-After')
      t.equal(retryAfter === undefined, verdict.ok)
      if (retryAfter !== undefined) t.ok(Number(retryAfter) >= Number(seconds), 'section 6')
    }
  },
)
