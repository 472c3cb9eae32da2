import { CommandError, type StartCommand } from '@gatewright/host/cli'

/** Runs the host in this process. It opens the stores itself. */
export const startCommand: StartCommand = {
  name: 'start',
  takes: [],
  summary: 'Run the host until Ctrl-C or SIGTERM, as npm start does',
  example: '',
  async start({ env, json }) {
    const { serve } = await import('../composition/serve.ts')
    const served = await serve(env, json ? () => {} : text => console.log(text))
    if (!served.ok) throw new CommandError(served.problem)
    return { data: { url: served.url, partnerKey: served.partnerKey ?? null }, lines: [] }
  },
}
