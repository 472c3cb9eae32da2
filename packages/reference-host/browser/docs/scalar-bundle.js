// Finds the built bundle of Scalar. The maker's own package of it has 243 MB of dependencies, which the bundle contains already;
// its Fastify plugin carries the same bundle as a text and serves it, so the text is taken from there.

/** The text of the bundle, which sets `window.Scalar`. */
export async function scalarBundle() {
  const { default: plugin } = await import('@scalar/fastify-api-reference')
  /** @type {string | undefined} */
  let text
  const reply = { header: () => reply, send: (/** @type {string} */ sent) => (text = sent) }
  // What the plugin calls of Fastify while it registers its routes.
  const fastify = {
    initialConfig: {},
    route: (
      /** @type {{ url: string, handler: (request: object, reply: object) => unknown }} */ { url, handler },
    ) => url.endsWith('/js/scalar.js') && handler({}, reply),
  }
  plugin(/** @type {never} */ (fastify), { routePrefix: '/docs', configuration: { url: '/' } }, () => {})
  if (text === undefined || !text.includes('createApiReference'))
    throw new Error('@scalar/fastify-api-reference serves no js/scalar.js any more: look where its bundle is')
  return text.replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n')
}
