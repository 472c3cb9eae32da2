import { RequestMethod } from '@nestjs/common'
import { MetadataScanner, type DiscoveryService } from '@nestjs/core'
import { metadata, operationAt, operationOf, type DeclaredOperation } from './methods.ts'

/** Where Nest keeps the method of a route, and the patterns of its message handlers. */
const ROUTE = 'method'
const MESSAGES = ['microservices:pattern', 'websockets:message_mapping']

/**
 * Finds the operations that the controllers of an application declare, by their methods. Throws a `TypeError` for a declaration that
 * would guard nothing: on a provider, on a handler of messages, or on a method that was replaced.
 */
export function operationsOf(discovery: DiscoveryService): ReadonlyMap<object, DeclaredOperation> {
  const operations = new Map<object, DeclaredOperation>()
  for (const { metatype } of discovery.getControllers())
    for (const { method, name, prototype } of methodsOf(metatype)) {
      const declared = operationOf(method)
      const inClass = operationAt(prototype, name)
      if (inClass) assertGuarded(`${inClass.operation} on ${metatype?.name}.${name}`, method)
      if (declared) operations.set(method, declared)
    }
  for (const { metatype } of discovery.getProviders())
    for (const { method, name } of methodsOf(metatype)) {
      const declared = operationOf(method)
      if (declared && !operations.has(method))
        throw new TypeError(
          `${declared.operation} on ${metatype?.name}.${name}: @Read, @Write and @Open guard the routes of controllers, and ${metatype?.name} is a provider (a service, a resolver or a gateway): declare the operation on a controller`,
        )
    }
  return operations
}

/**
 * Throws a `TypeError` for a controller whose instance has another function in place of a declared method, as by `bind` in its constructor:
 * the guard would not know it. Call it when all controllers are made.
 */
export function assertInstances(discovery: DiscoveryService): void {
  for (const { metatype, instance } of discovery.getControllers())
    for (const { name, prototype } of methodsOf(metatype)) {
      const declared = operationAt(prototype, name)
      const method = (instance as Record<string, unknown> | undefined)?.[name]
      if (declared && typeof method === 'function' && !operationOf(method))
        throw new TypeError(
          `${declared.operation} on ${metatype?.name}.${name}: an instance has another function in its place, which nothing would guard: do not assign to the method, as by bind in the constructor`,
        )
    }
}

/** Returns the name of the HTTP method for which Nest routes to a method; `ALL` for all of them. */
export function httpMethodOf(method: object): string {
  return RequestMethod[metadata.getMetadata(ROUTE, method) as RequestMethod] ?? 'ALL'
}

interface Method {
  readonly method: object
  readonly name: string
  readonly prototype: object
}

const scanner = new MetadataScanner()

/** Lists the methods of a class and its base classes. */
function methodsOf(metatype: unknown): readonly Method[] {
  const { prototype } = (metatype ?? {}) as { prototype?: Record<string, object> }
  if (!prototype) return []
  return scanner
    .getAllMethodNames(prototype)
    .map(name => ({ method: prototype[name] as object, name, prototype }))
}

function assertGuarded(where: string, method: object): void {
  if (!operationOf(method) && metadata.getMetadata(ROUTE, method) !== undefined)
    throw new TypeError(
      `${where}: the method was replaced by a subclass, or by a decorator above, so nothing would guard the route: declare the operation there too, above all decorators that replace the method`,
    )
  if (MESSAGES.some(pattern => metadata.getMetadata(pattern, method) !== undefined))
    throw new TypeError(
      `${where}: the method also handles messages, which @Read, @Write and @Open do not guard: give the messages a method of their own`,
    )
}
