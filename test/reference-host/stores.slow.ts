import t from 'tap'
import { runHostSuites } from './host-suites.ts'
import { startRedisCluster } from '../harness/databases/redis-cluster.ts'

t.test('the host passes its suites of keys and limits on the embedded database with Redis', t =>
  runHostSuites(t, 'embedded+redis'),
)

t.test('the host passes its suites of keys and limits on Postgres with a Redis Cluster', async t => {
  const cluster = await startRedisCluster()
  t.teardown(() => cluster.stop())
  process.env['TEST_REDIS_CLUSTER_URLS'] = cluster.urls.join()
  await runHostSuites(t, 'postgres+cluster')
})
