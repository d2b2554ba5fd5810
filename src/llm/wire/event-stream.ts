/** The JSON values of a `text/event-stream` body; `[DONE]`, comments and what is no JSON are passed over. */
export function readEvents(text: string): unknown[] {
  return text
    .split(/\r\n\r\n|\n\n|\r\r/)
    .map((event) =>
      event
        .split(/\r\n|\n|\r/)
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(5).replace(/^ /, ''))
        .join('\n'),
    )
    .flatMap((data) => {
      try {
        return data === '' ? [] : [JSON.parse(data) as unknown]
      } catch {
        return []
      }
    })
}

/** Whether a body is a stream of events, whatever its content type says. */
export const isEventStream = (content_type: string, text: string): boolean =>
  content_type.includes('text/event-stream') || /^\s*(event|data): ?\S/.test(text)
