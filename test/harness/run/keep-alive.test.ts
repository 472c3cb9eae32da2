import t from 'tap'
import { listen } from '../listen.ts'

t.test('a server in a process of tests keeps idle connections for as long as a host', async t => {
  const url = await listen(t, (_, response) => response.end())
  // The first response was begun with the default of Node.
  await (await fetch(url)).text()
  const { headers } = await fetch(url)
  t.equal(headers.get('keep-alive'), 'timeout=65')
})
