const tagOf = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)
  ?.get as () => unknown

/** Whether a value is a `Uint8Array`, also of another realm. */
export const isUint8Array = (value: unknown): value is Uint8Array => tagOf.call(value) === 'Uint8Array'
