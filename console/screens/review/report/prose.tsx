import { shorten, visibleText } from '../../../ui/words.ts'

const MAX_LENGTH = 8_000

/** Words of a report. Quoted names stand in the letters of code; everything else is shown as it was written. */
export function Prose({ text, class: name }: { text: string; class?: string }) {
  const paragraphs = visibleText(shorten(text, MAX_LENGTH))
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
