/** Makes the URL of a page of the documentation, with its anchor: `docsLink('401.md#wrong-audience')`. For logs and error messages. */
export function docsLink(page: string): string {
  return `https://github.com/gatewright/gatewright/blob/main/docs/${page}`
}
