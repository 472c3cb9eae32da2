import { renderMermaidSVG } from 'beautiful-mermaid'

let drawn = 0

/**
 * Draws a Mermaid diagram as SVG that the content security policy of the site allows: without styles of its own (`site.css` has
 * them) and without fonts from elsewhere. The ids of its arrow heads are unique among all diagrams.
 * @param {string} source
 */
export function diagram(source) {
  const id = `diagram-${++drawn}`
  const kind = source.startsWith('stateDiagram') ? 'State diagram' : 'Flow diagram'
  const svg = renderMermaidSVG(source)
    .replace(/<style>[^]*?<\/style>\s*/, '')
    .replace(/^<svg ([^>]*?) style="[^"]*"/, `<svg $1 role="img" aria-label="${kind}"`)
    .replaceAll(/ data-[\w-]+="[^"]*"/g, '')
    .replaceAll(/(id="|url\(#)(arrowhead)/g, `$1${id}-$2`)
  return `<figure class="diagram">${svg}</figure>\n`
}
