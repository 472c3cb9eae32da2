import t from 'tap'
import { postgresUrl } from '#packages/host/dist/config/parsers.js'
import { redisUrl } from '#packages/host/dist/config/redis-target.js'

t.test('rejects the URL of several servers of Postgres, which libpq takes', t => {
  for (const url of [
    'postgres://one:5432,two:5433/db',
    'postgres://one,two/db?target_session_attrs=read-write',
    'postgresql://user:hunter2@one:5432,two/db',
    'postgres://one,two',
    'postgres://[::1]:5432,[::2]:5432/db',
    'postgres:///db?host=one,two',
    'postgres://one/db?port=5432,5433',
    'postgres://user:p@ss@one,two/db',
  ]) {
    const result = postgresUrl(url)
    t.match(result, { expected: /^must name one server: .*docs\/clusters\.md/ }, url)
    t.notMatch(JSON.stringify(result), /hunter2/)
  }
  t.end()
})

t.test('takes the URL of one server', t => {
  for (const url of [
    'postgres://one:5432/db',
    'postgres://user:a,b@one/db',
    'postgres:///db?host=/var/run/postgresql',
    'postgres://[::1]:5432/db?options=-c%20search_path=a,b',
  ])
    t.same(postgresUrl(url), { value: url })
  t.match(postgresUrl('mysql://one/db'), { expected: /starts with postgres:\/\// })
  t.end()
})

t.test('rejects several servers in the URL of one Redis', t => {
  for (const url of ['redis://one:6379,two:6379', 'redis://one,two/0'])
    t.match(redisUrl(url), { expected: /^must be a URL that starts with redis:/ }, url)
  t.same(redisUrl('redis://user:a,b@one/0'), { value: { url: 'redis://user:a,b@one/0' } })
  t.end()
})
