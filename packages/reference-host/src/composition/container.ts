import { ContainerInstance, Token } from 'typedi'

/** Gives the service of a key, made on the first call. */
type Get = <T>(key: ServiceKey<T>) => T

/** Names a service, and carries its type both ways, so that a `ServiceKey<string>` is not a `ServiceKey<number>`. */
export class ServiceKey<T> extends Token<T> {
  declare protected readonly carries: (value: T) => T
  readonly make: ((get: Get) => T) | undefined

  constructor(name: string, make?: (get: Get) => T) {
    super(name)
    this.make = make
  }
}

/** Registers a service with how it is made. */
export function defineService<T>(name: string, make: (get: Get) => NoInfer<T>): ServiceKey<T> {
  return new ServiceKey<T>(name, make)
}

/** Registers what a caller binds before the first `get`. */
export function requiredService<T>(name: string): ServiceKey<T> {
  return new ServiceKey<T>(name)
}

/** The services of one host: typed keys over typedi, each made on its first `get`. */
export interface Container {
  readonly get: Get
  /** Replaces how a service is made; the last binding before its first `get` counts. */
  bind<T>(key: ServiceKey<T>, make: (get: Get) => NoInfer<T>): void
}

/** An empty container of its own, outside typedi's global registry. */
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
