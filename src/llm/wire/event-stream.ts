/** The JSON values of a `text/event-stream` body. Comments, `[DONE]` and other data that is not JSON are left out. */
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

/** Whether a body is a stream of events, which some servers send under another content type. */
export const isEventStream = (contentType: string, text: string): boolean =>
  contentType.includes('text/event-stream') || /^\s*(event|data): ?\S/.test(text)
