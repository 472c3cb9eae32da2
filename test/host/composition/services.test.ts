import { ledgerWrite, runHost, type HostServices, type Module } from '@gatewright/host'
import { makeServices } from '#packages/host/dist/composition/make-services.js'
import { readHostConfig } from '@gatewright/host/config'
import { allow, scopeCatalogue } from '@gatewright/kernel'
import t, { type Test } from 'tap'
import * as Type from 'typebox/type'
import { temporaryFolder } from '../../harness/files.ts'

interface Numbers {
  readonly given: number
  readonly one: object
  readonly two: readonly [object, number]
  readonly wrong: object
}
let made: string[] = []
class Base {
  one(_services: Numbers): object {
    made.push('one of Base')
    return {}
  }

  given(): number {
    return 0
  }

  two({ one, given }: Numbers): readonly [object, number] {
    made.push('two')
    return [one, given]
  }
}
class Own extends Base {
  override one(_services: Numbers): object {
    made.push('one of Own')
    return {}
  }

  wrong({ wrong }: Numbers): object {
    return wrong
  }
}

t.beforeEach(() => {
  made = []
})

t.test('makes each service once, when it is first read', async t => {
  const services = makeServices<Numbers>(new Base(), { given: 7 })
  t.same(made, [])
  const [one, given] = services.two
  t.same(made, ['one of Base', 'two'])
  t.equal(one, services.one)
  t.equal(given, 7, 'what was given replaces what would be made')
  t.equal(services.two, services.two)
  t.same(made, ['one of Base', 'two'])
  t.not(makeServices<Numbers>(new Base(), {}).one, one, 'another host has services of its own')
})

t.test('a method of the own class replaces that of its parent', async t => {
  const services = makeServices<Numbers>(new Own(), {})
  t.same(services.two, [services.one, 0])
  t.same(made, ['one of Own', 'two'])
})

t.test('a service that needs itself is an error', async t => {
  const services = makeServices<Numbers>(new Own(), {})
  t.throws(() => services.wrong)
})

const write = ledgerWrite({
  id: 'things.make',
  title: 'Make a thing',
  surface: 'user',
  method: 'POST',
  paths: ['/user/v1/things'],
  credential: 'session',
  scopes: ['things.write'],
  spends: false,
  requires: 'onboarding',
  response: Type.Object({}),
  example: { response: {} },
  write: async () => allow({ data: {}, summary: 'Made.' }),
})

async function startsWith(t: Test, modules: readonly Module<HostServices>[]): Promise<void> {
  const folder = temporaryFolder(t)
  const config = readHostConfig({ DATA_DIR: folder, PORT: '0' })
  if (!config.ok) throw new Error(config.problems.join())
  const product = { modules, scopes: scopeCatalogue(['things.write']) }
  const host = await runHost(config.value, product, { observe: () => {}, report: () => {} })
  await host.close()
}

t.test('a host without requirements does not start with an operation that needs some', async t => {
  await t.rejects(startsWith(t, [{ operations: () => [write] }]), {
    name: 'TypeError',
    message: /^operation things\.make requires something of the account/,
  })
})

t.test('two modules cannot have one job or one event of providers', async t => {
  const job = { jobs: () => ({ 'thing.send': async () => 'again' as const }) }
  await t.rejects(startsWith(t, [job, job]), { message: 'two modules have the job thing.send' })
  const event = {
    providerEvents: () => ({
      'thing.report': {
        data: Type.Object({}),
        ofUnknownObject: 'sent_again' as const,
        keeps: (data: object) => ({ amountCents: null, cardId: null, data }),
        apply: async () => 'applied' as const,
      },
    }),
  }
  await t.rejects(startsWith(t, [event, event]), {
    message: 'two modules have the event type thing.report',
  })
  await startsWith(t, [job, event])
})

t.test('counts failed rounds of background tasks by task, and reports each', async t => {
  const folder = temporaryFolder(t)
  const config = readHostConfig({ DATA_DIR: folder, PORT: '0' })
  if (!config.ok) throw new Error(config.problems.join())
  const broken = new Error('no paper')
  const print = {
    name: 'print statements',
    everyMs: 1000,
    atStart: true,
    run: () => Promise.reject(broken),
  }
  const collect = (): Promise<number> => Promise.reject(broken)
  const modules: readonly Module<HostServices>[] = [{ chores: () => [print], collectors: () => [collect] }]
  const reported: unknown[] = []
  const options = { observe: () => {}, report: (error: unknown) => reported.push(error), repeatChores: false }
  const host = await runHost(config.value, { modules, scopes: scopeCatalogue(['things.write']) }, options)
  t.teardown(() => host.close())
  await host.chores.find(({ name }) => name === 'collect garbage')?.run(new AbortController().signal)
  t.same(reported, [broken, broken])
  const { body } = await host.services.metrics.text()
  t.match(body, 'gatewright_chores_failed_total{chore="print statements"} 1')
  t.match(body, 'gatewright_chores_failed_total{chore="collect garbage"} 1')
})

t.test('a round deletes until no collector has a full batch left, and each has its turn', async t => {
  const folder = temporaryFolder(t)
  const config = readHostConfig({ DATA_DIR: folder, PORT: '0' })
  if (!config.ok) throw new Error(config.problems.join())
  const batches: string[] = []
  const collector =
    (name: string, full: number) =>
    async (limit: number): Promise<number> =>
      batches.push(name) && batches.filter(each => each === name).length <= full ? limit : limit - 1
  const module: Module<HostServices> = { collectors: () => [collector('long', 120), collector('short', 1)] }
  const host = await runHost(
    config.value,
    { modules: [module], scopes: scopeCatalogue(['things.write']) },
    { observe: () => {}, report: error => t.fail(String(error)), repeatChores: false },
  )
  t.teardown(() => host.close())
  const round = host.chores.find(({ name }) => name === 'collect garbage')
  await round?.run(new AbortController().signal)
  t.same(batches.slice(0, 5), ['long', 'short', 'long', 'short', 'long'])
  t.equal(batches.length, 121 + 2)
  const stopping = new AbortController()
  stopping.abort()
  await round?.run(stopping.signal)
  t.equal(batches.length, 123, 'a host that stops deletes nothing more')
})
