/** The options of `LRUCache` that are used. */
interface Options<K, V> {
  /**
   * How large the entries may be together; entries of size 1 are counted. `max` is not used, because with it lru-cache
   * allocates all entries at once (2 ms for 10,000).
   */
  readonly maxSize: number
  /** Called with every entry that is removed. */
  readonly dispose?: (value: V, key: K) => void
}

/**
 * The part of lru-cache that is used, with its names: lru-cache is 19 KB, a sixth of the size limit of a guard in a bundle for
 * an edge runtime. The tests of the caches run with both.
 */
export class LRUCache<K, V> {
  readonly #options: Options<K, V>
  /** The least recently used entry first. */
  readonly #entries = new Map<K, { readonly value: V; readonly size: number }>()
  #size = 0

  constructor(options: Options<K, V>) {
    this.#options = options
  }

  get calculatedSize(): number {
    return this.#size
  }

  /** Returns a value without recording its use. */
  peek(key: K): V | undefined {
    return this.#entries.get(key)?.value
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  set(key: K, value: V, { size }: { readonly size: number }): void {
    const { maxSize } = this.#options
    this.delete(key)
    if (size > maxSize) return this.#options.dispose?.(value, key)
    this.#entries.set(key, { value, size })
    this.#size += size
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= maxSize) return
      this.delete(oldest)
    }
  }

  delete(key: K): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#size -= entry.size
    this.#options.dispose?.(entry.value, key)
  }

  /** Iterates over the keys, the least recently used first. Entries may be deleted meanwhile. */
  rkeys(): IterableIterator<K> {
    return this.#entries.keys()
  }
}
