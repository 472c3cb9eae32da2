// The search of the guide: all words must be in a page; words in the title count more.
const input = document.querySelector('search input')
const list = document.querySelector('search ol')
let pages

async function search() {
  pages ??= (await (await fetch('/guide/search.json')).json()).map(page => ({
    ...page,
    words: `${page.title} ${page.text}`.toLowerCase(),
  }))
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean)
  const scoreOf = ({ title, words: text }) =>
    words.every(word => text.includes(word))
      ? 1 +
        words.filter(word => title.toLowerCase().includes(word)).length * 10 +
        text.split(words[0]).length / 100
      : 0
  const found =
    words.length === 0 ? [] : pages.map(page => [scoreOf(page), page]).filter(([score]) => score > 0)
  found.sort(([a], [b]) => b - a)
  const items = found.slice(0, 10).map(([, page]) => item(page, words[0]))
  list.replaceChildren(...(items.length === 0 && words.length > 0 ? [nothing()] : items))
  list.hidden = words.length === 0
}

function item({ path, title, text }, word) {
  const link = Object.assign(document.createElement('a'), { href: `/guide/${path}`, textContent: title })
  const at = Math.max(0, text.toLowerCase().indexOf(word) - 40)
  const place = Object.assign(document.createElement('small'), { textContent: text.slice(at, at + 110) })
  const entry = document.createElement('li')
  entry.append(link, place)
  return entry
}

function nothing() {
  return Object.assign(document.createElement('li'), { textContent: 'No page has these words.' })
}

input.addEventListener('input', () => void search())
addEventListener('keydown', event => {
  if (event.key === '/' && document.activeElement === document.body) {
    event.preventDefault()
    input.focus()
  }
  if (event.key === 'Escape') list.hidden = true
})

// On a narrow page the list of pages is above the page, and folded.
const narrow = matchMedia('(max-width: 50rem)')
const foldPages = () => {
  document.querySelector('nav > details').open = !narrow.matches
}
foldPages()
narrow.addEventListener('change', foldPages)

// What scrolls to the side can be reached by the keyboard.
const sizes = new ResizeObserver(entries => {
  for (const { target } of entries)
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0
    else target.removeAttribute('tabindex')
})
for (const each of document.querySelectorAll('main pre, main table, main .diagram')) sizes.observe(each)

// The console and the API reference can be off: the host says which of its pages it serves.
async function showLinksOfHost() {
  const response = await fetch('/', { headers: { accept: 'application/json' } })
  const { links } = await response.json()
  for (const [name, path] of [
    ['helper', '/helper'],
    ['docs', '/docs'],
  ])
    document.querySelector(`.host-links [href="${path}"]`).hidden = !(name in links)
}
showLinksOfHost().catch(() => {})
