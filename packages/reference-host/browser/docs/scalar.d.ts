interface Window {
  /** Set by the bundle of Scalar. */
  readonly Scalar: {
    createApiReference(target: Element | string, configuration: Readonly<Record<string, unknown>>): unknown
  }
}
