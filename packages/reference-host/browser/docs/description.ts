/** The part of an OpenAPI document that the page changes. */
interface Description {
  readonly info: { readonly description?: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

interface Operation {
  readonly summary?: string
  readonly deprecated?: boolean
  readonly parameters?: readonly { readonly $ref?: string }[]
  readonly security?: readonly object[]
}

/**
 * Loads the API description. The header fields of Open Responses are those of every operation: the introduction describes them, and
 * they are left out of each, so that a form does not send them by itself. The form of an operation without a credential says that a
 * credential is optional: for an empty list it would ask for a session. Of two operations with one title, that of partners says so. Old paths
 * are left out, unless the address of the page has `?old-names`.
 */
export async function loadDescription(): Promise<object> {
  const response = await fetch('/openapi.json', { credentials: 'omit', redirect: 'error' })
  if (!response.ok) throw new Error(`the description returned ${response.status}`)
  const description = (await response.json()) as Description
  const withOldNames = new URLSearchParams(location.search).has('old-names')
  const shown = Object.entries(description.paths).filter(
    ([, item]) => withOldNames || Object.values(item).some(({ deprecated }) => !deprecated),
  )
  const ofUsers = new Set(
    shown.flatMap(([path, item]) =>
      isOfPartners(path) ? [] : Object.values(item).map(({ summary }) => summary),
    ),
  )
  const titled = (path: string, operation: Operation): Operation =>
    isOfPartners(path) && ofUsers.has(operation.summary)
      ? { ...operation, summary: `${operation.summary} (partner)` }
      : operation
  const paths = shown.map(([path, item]) => [
    path,
    Object.fromEntries(
      Object.entries(item).map(([method, operation]) => [method, forPage(titled(path, operation))]),
    ),
  ])
  const { info } = description
  const introduction = info.description?.replaceAll('{host}', location.origin) ?? ''
  return {
    ...description,
    info: { ...info, description: introduction },
    paths: Object.fromEntries(paths) as object,
  }
}

const isOfPartners = (path: string): boolean => path.startsWith('/partner/')

function forPage({ parameters, security, ...operation }: Operation): Operation {
  const own = parameters?.filter(({ $ref }) => !$ref?.includes('/parameters/OpenResponses'))
  return {
    ...operation,
    ...(own && { parameters: own }),
    ...(security && { security: security.length === 0 ? [{}] : security }),
  }
}
