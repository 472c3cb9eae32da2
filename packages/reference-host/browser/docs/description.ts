/** The part of an OpenAPI document that the page changes. */
interface Description {
  paths: Readonly<Record<string, Readonly<Record<string, { readonly deprecated?: boolean }>>>>
  readonly components?: {
    readonly parameters?: Readonly<Record<string, { examples?: Readonly<Record<string, object>> }>>
  }
}

/**
 * Loads the API description. It disables the example of the header field that requests Open Responses objects. Otherwise the
 * forms would send that field by default, and so request every response in that form. Old paths are left out, unless the address of
 * the page has `?old-names`.
 */
export async function loadDescription(): Promise<object> {
  const response = await fetch('/openapi.json', { credentials: 'omit', redirect: 'error' })
  if (!response.ok) throw new Error(`the description returned ${response.status}`)
  const description = (await response.json()) as Description
  const parameter = description.components?.parameters?.['OpenResponses']
  if (parameter) parameter.examples = { default: { value: '1', 'x-disabled': true } }
  if (!new URLSearchParams(location.search).has('old-names')) description.paths = current(description.paths)
  return description
}

function current(paths: Description['paths']): Description['paths'] {
  return Object.fromEntries(
    Object.entries(paths).filter(([, item]) => Object.values(item).some(({ deprecated }) => !deprecated)),
  )
}
