// A host that runs its chores only when it is told to. Argument: its environment as JSON. It says its address and the names of its chores; for
// a message with such a name it runs the chore and says when it has ended.
import { readConfig, startHost } from '@gatewright/reference-host'

const config = readConfig(JSON.parse(process.argv[2] as string) as Record<string, string>)
if (!config.ok) throw new Error(config.problems.join('; '))
const host = await startHost(config.value, {
  observe: () => {},
  report: error => console.error(error),
  repeatChores: false,
})
process.on('message', async (name: string) => {
  for (const chore of host.chores.filter(each => each.name === name))
    await chore.run(new AbortController().signal)
  process.send?.('done')
})
process.once('disconnect', () => void host.close().then(() => process.exit()))
process.send?.({ url: host.url, chores: [...new Set(host.chores.map(({ name }) => name))] })
