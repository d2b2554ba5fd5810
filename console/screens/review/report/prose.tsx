import { excerpt } from '../../../ui/words.ts'

/** Shows the text of a report unchanged, with quoted names as code. */
export function Prose({ text, class: name }: { text: string; class?: string }) {
  const paragraphs = excerpt(text, 8_000)
    .split(/\n{2,}/)
    .filter((paragraph) => paragraph.trim() !== '')
  return (
    <>
      {paragraphs.map((paragraph, index) => (
        <p key={index} class={`report-prose ${name ?? ''}`}>
          {paragraph
            .split(/(`[^`\n]{1,200}`)/)
            .map((part, at) => (at % 2 === 1 ? <code key={at}>{part.slice(1, -1)}</code> : part))}
        </p>
      ))}
    </>
  )
}
