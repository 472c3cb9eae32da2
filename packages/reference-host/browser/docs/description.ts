/** The part of an OpenAPI document that the page changes. */
interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

interface Operation {
  readonly deprecated?: boolean
  readonly parameters?: readonly { readonly $ref?: string }[]
  readonly security?: readonly object[]
}

/**
 * Loads the API description. The header fields of Open Responses are those of every operation: the introduction describes them, and
 * they are left out of each, so that a form does not send them by itself. The form of an operation without a credential says that a
 * credential is optional: for an empty list it would ask for a session. Old paths are left out, unless the address of the page has
 * `?old-names`.
 */
export async function loadDescription(): Promise<object> {
  const response = await fetch('/openapi.json', { credentials: 'omit', redirect: 'error' })
  if (!response.ok) throw new Error(`the description returned ${response.status}`)
  const description = (await response.json()) as Description
  const withOldNames = new URLSearchParams(location.search).has('old-names')
  const shown = Object.entries(description.paths).filter(
    ([, item]) => withOldNames || Object.values(item).some(({ deprecated }) => !deprecated),
  )
  const paths = shown.map(([path, item]) => [
    path,
    Object.fromEntries(Object.entries(item).map(([method, operation]) => [method, forPage(operation)])),
  ])
  return { ...description, paths: Object.fromEntries(paths) as object }
}

function forPage({ parameters, security, ...operation }: Operation): Operation {
  const own = parameters?.filter(({ $ref }) => !$ref?.includes('/parameters/OpenResponses'))
  return {
    ...operation,
    ...(own && { parameters: own }),
    ...(security && { security: security.length === 0 ? [{}] : security }),
  }
}
