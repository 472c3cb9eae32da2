import { expressGate, type ConnectGate } from '@gatewright/http/express'
import type { OpenCall } from '@gatewright/http'
import { nothingHappened } from '@gatewright/kernel'
import { shared } from '@gatewright/kernel/internal'
import { isRedirect, setFields, type ConnectRequest } from '@gatewright/http/internal'
import { HttpException, type DynamicModule, type ExecutionContext } from '@nestjs/common'
import { APP_GUARD, DiscoveryModule, DiscoveryService, HttpAdapterHost } from '@nestjs/core'
import { compose, type Declarations, type Operation, type Parts } from '../compose.ts'
import { checkedOptions, type GatewrightOptions } from '../options.ts'
import { assertInstances, httpMethodOf, operationsOf } from './controllers.ts'
import { acceptedRequests, type DeclaredOperation, type HandlerWatch } from './methods.ts'
import { assertPlatform, keepRawBodies, platformRequest } from './platform.ts'

/** Options of `GatewrightModule.forRootAsync`, as other modules of Nest have them. */
interface AsyncOptions<Scope extends string = string> {
  readonly imports?: DynamicModule['imports']
  readonly inject?: readonly unknown[]
  /** Returns the options, or a promise of them. Its arguments are the injected providers. */
  readonly useFactory: (...injected: never[]) => GatewrightOptions<Scope> | Promise<GatewrightOptions<Scope>>
}

/** The parts of the module, to inject: `constructor(gatewright: GatewrightParts)`. */
export abstract class GatewrightParts implements Parts {
  abstract readonly guard: Parts['guard']
  abstract readonly idempotency: Parts['idempotency']
  abstract readonly gate: Parts['gate']
  abstract readonly once: Parts['once']
  /** The binding of `@gatewright/http/express`. */
  abstract readonly http: ConnectGate
}

/** An operation as it was declared, and as the guard accepts its requests. */
interface Mountable extends Operation<object> {
  readonly declared: DeclaredOperation
}

/** What the guard works with. */
interface Mounted extends GatewrightParts {
  /** The operations by their methods. */
  readonly operations: ReadonlyMap<unknown, Mountable>
  /** Nest calls it when all controllers are made, before the application listens. */
  onApplicationBootstrap(): void
}
const MOUNTED = Symbol('gatewright')
const OPTIONS = Symbol('gatewright options')

/**
 * The access and policy layer of a Nest application on Express or Fastify. Import it once, in the root module. Methods with `@Read`,
 * `@Write` or `@Open` are guarded; others are as before. With a `@Write`, the body parsers of Nest keep the bytes of bodies (`rawBody`).
 */
// oxlint-disable-next-line typescript/no-extraneous-class -- a module of Nest is a class
export class GatewrightModule {
  /** Throws a `TypeError` that says what to write for a wrong option of the module or of a decorator, when the application starts. */
  static forRoot<const Scope extends string = string>(options: GatewrightOptions<Scope>): DynamicModule {
    return GatewrightModule.forRootAsync({ useFactory: () => options })
  }

  /** As `forRoot`, with options that other providers make. */
  static forRootAsync<const Scope extends string = string>(options: AsyncOptions<Scope>): DynamicModule {
    const { imports = [], inject = [], useFactory } = options
    return {
      module: GatewrightModule,
      global: true,
      imports: [...imports, DiscoveryModule],
      providers: [
        {
          provide: OPTIONS,
          useFactory: useFactory as (...given: unknown[]) => unknown,
          inject: inject as never,
        },
        { provide: MOUNTED, useFactory: mount, inject: [OPTIONS, DiscoveryService, HttpAdapterHost] },
        { provide: GatewrightParts, useExisting: MOUNTED },
        { provide: APP_GUARD, useFactory: requestGuard, inject: [MOUNTED] },
      ],
      exports: [GatewrightParts],
    }
  }
}

/** The applications that have the module. */
const mountedOn: WeakSet<object> = shared('nest.mountedOn', () => new WeakSet())

function mount(
  options: GatewrightOptions,
  discovery: DiscoveryService,
  adapterHost: HttpAdapterHost,
): Mounted {
  assertPlatform((adapterHost.httpAdapter as HttpAdapterHost['httpAdapter'] | undefined)?.getType())
  if (mountedOn.has(adapterHost))
    throw new TypeError(
      'GatewrightModule is imported twice, so that requests would be guarded twice: import GatewrightModule.forRoot once, in the root module',
    )
  mountedOn.add(adapterHost)
  const { parts, declare } = compose(checkedOptions(options, {}))
  const operations = new Map<unknown, Mountable>()
  for (const [method, declared] of operationsOf(discovery))
    operations.set(method, { declared, ...operationIn(declare, declared, httpMethodOf(method)) })
  const readsBodies = [...operations.values()].some(({ route }) => route.readsBody)
  // A test module makes its adapter after this module.
  if (readsBodies) adapterHost.init$.subscribe(() => keepRawBodies(adapterHost.httpAdapter))
  return {
    ...parts,
    http: expressGate(parts.gate, { body: 'kept' }),
    operations,
    onApplicationBootstrap: () => assertInstances(discovery),
  }
}

function operationIn(declare: Declarations, declared: DeclaredOperation, method: string): Operation<object> {
  switch (declared.kind) {
    case 'open':
      return declare.open(declared.operation, declared.options)
    case 'read': {
      const operation = declare.read(declared.operation, declared.options)
      declare.assertMethod(declared.operation, method)
      return operation
    }
    case 'write': {
      const operation = declare.write(declared.operation, declared.options, true)
      declare.assertMethod(declared.operation, method)
      return operation
    }
  }
}

/** Accepts requests to declared operations, before the guards of the application that are registered later. */
function requestGuard({ http, operations }: Mounted): {
  canActivate(context: ExecutionContext): Promise<boolean>
} {
  return {
    async canActivate(context) {
      const operation = operations.get(context.getHandler())
      if (!operation) return true
      const { key, request, response, send } = platformRequest(context)
      const accepted = await http.accept<OpenCall>(operation.route, request, response)
      if (accepted.ok) {
        acceptedRequests.set(key, {
          declared: operation.declared,
          given: operation.requestOf(accepted.value),
          watch: operation.route.idempotent ? handlerWatch(http, request) : undefined,
        })
        return true
      }
      const { status, headers, body } = accepted.response
      // Nest sends every exception as application/json, so a problem document is sent as a replay is.
      const isProblem = headers.some(([, value]) => value === 'application/problem+json')
      if (!accepted.replayed && !isProblem) {
        setFields(
          response,
          headers.filter(([name]) => name.toLowerCase() !== 'content-length'),
        )
        // An exception, so that the filters of the application see it. Without one, Nest sends the body as it is.
        throw new HttpException(JSON.parse(body) as object, status)
      }
      send(accepted.response)
      // The response is sent. Nest would send another one whatever this returned or threw.
      return new Promise<never>(() => {})
    },
  }
}

/** Until the handler starts, every response to the request is of something before it, so nothing has happened. */
function handlerWatch(http: ConnectGate, request: ConnectRequest): HandlerWatch {
  http.failed(request, nothingHappened(new Error('the handler did not start')))
  let runs = 0
  return {
    started() {
      http.started(request)
      runs++
    },
    failed(error) {
      // Nest responds with it as with a returned response.
      if (runs === 1 && isRedirect(error)) return
      // What the last run says does not hold for those before it.
      http.failed(
        request,
        runs === 1 ? error : new HttpException('the handler ran several times', 500, { cause: error }),
      )
    },
  }
}
