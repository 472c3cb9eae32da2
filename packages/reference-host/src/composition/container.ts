import { ContainerInstance, Token } from 'typedi'

/** Returns the service of a key. The first call creates it. */
type Get = <T>(key: ServiceKey<T>) => T

/**
 * Identifies a service and carries its type in both directions, so that a `ServiceKey<string>` is not a
 * `ServiceKey<number>`.
 */
export class ServiceKey<T> extends Token<T> {
  declare protected readonly carries: (value: T) => T
  readonly make: ((get: Get) => T) | undefined

  constructor(name: string, make?: (get: Get) => T) {
    super(name)
    this.make = make
  }
}

/** Declares a service and how the container creates it. */
export function defineService<T>(name: string, make: (get: Get) => NoInfer<T>): ServiceKey<T> {
  return new ServiceKey<T>(name, make)
}

/** Declares a service that the caller binds before the first `get`. */
export function requiredService<T>(name: string): ServiceKey<T> {
  return new ServiceKey<T>(name)
}

/** The services of one host: typed keys over typedi. Each service is created by its first `get`. */
export interface Container {
  readonly get: Get
  /** Replaces how a service is created. The last binding before the first `get` counts. */
  bind<T>(key: ServiceKey<T>, make: (get: Get) => NoInfer<T>): void
}

/** Creates an empty container outside typedi's global registry. */
export function createContainer(): Container {
  const instance = new ContainerInstance('host')
  const bind: Container['bind'] = (key, make) => {
    instance.set({ id: key, factory: () => make(get) })
  }
  const get: Get = key => {
    if (!instance.has(key)) {
      if (!key.make) throw new Error(`${key.name ?? 'a service'} must be bound first`)
      bind(key, key.make)
    }
    return instance.get(key)
  }
  return { get, bind }
}
