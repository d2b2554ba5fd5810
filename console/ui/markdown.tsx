import type { ComponentChildren, ComponentType } from 'preact'
import { useModule } from './use-module.ts'
import { visibleText } from './words.ts'

/** The length above which a text stays plain, because parsing it would block the page. */
const MAX_LENGTH = 50_000

type Renderer = ComponentType<Record<string, unknown> & { children: string }>

interface Inside {
  children?: ComponentChildren
}

/** Returns the address if it is http or https; other links stay text. */
const webAddress = (address: string): string => (/^https?:\/\//i.test(address) ? address : '')

const COMPONENTS = {
  a: ({ href, children }: Inside & { href?: string }) =>
    href ? (
      <a href={href} rel="noreferrer nofollow">
        {children}
      </a>
    ) : (
      <span>{children}</span>
    ),
  // The page has its own headings; those of a text are only emphasized.
  ...Object.fromEntries(['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((name) => [name, Emphasis])),
}

function Emphasis({ children }: Inside) {
  return (
    <p>
      <b>{children}</b>
    </p>
  )
}

/** Shows a model's text with lists and emphasis: no HTML, no images, links only to the web. Plain while it loads. */
export function Markdown({ text }: { text: string }) {
  const isWanted = text.length <= MAX_LENGTH
  const Render = useModule('markdown', isWanted, async () => (await import('react-markdown')).default as Renderer)
  if (!Render || !isWanted) return <div class="markdown markdown-plain">{visibleText(text)}</div>
  return (
    <div class="markdown">
      <Render skipHtml disallowedElements={['img']} urlTransform={webAddress} components={COMPONENTS}>
        {visibleText(text)}
      </Render>
    </div>
  )
}
