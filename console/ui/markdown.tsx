import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { visibleText } from './words.ts'

/** A longer text stays plain, because to take it apart would hold up the page. */
const MAX_LENGTH = 50_000

type Renderer = ComponentType<Record<string, unknown> & { children: string }>
let loaded: Renderer | null = null

interface Inside {
  children?: ComponentChildren
}

/** Only addresses of the web become links; everything else that is written as one stays text. */
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
  // The headings of a page are its own; those of a text inside of it are only emphasised.
  ...Object.fromEntries(
    ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((name) => [
      name,
      ({ children }: Inside) => (
        <p>
          <b>{children}</b>
        </p>
      ),
    ]),
  ),
}

/**
 * A text that a model wrote, with its lists and emphasis: no HTML, no images, links only to the web. It is shown as plain
 * text until the library has come, and when that cannot be loaded.
 */
export function Markdown({ text }: { text: string }) {
  const [Render, setRender] = useState<Renderer | null>(() => loaded)
  const isWanted = text.length <= MAX_LENGTH
  useEffect(() => {
    if (!isWanted || loaded) return
    let isGone = false
    import('react-markdown')
      .then((module) => {
        loaded = module.default
        if (!isGone) setRender(() => loaded)
      })
      .catch(() => {})
    return () => {
      isGone = true
    }
  }, [isWanted])
  if (!Render || !isWanted) return <div class="markdown markdown-plain">{visibleText(text)}</div>
  return (
    <div class="markdown">
      <Render skipHtml disallowedElements={['img']} urlTransform={webAddress} components={COMPONENTS}>
        {visibleText(text)}
      </Render>
    </div>
  )
}
