import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createFrameReader, type Frame } from '../../../../console/client/api/event-stream.ts'

const readAll = (pieces: string[]): Frame[] => pieces.flatMap(createFrameReader())

it('reads the fields of a frame', () => {
  expect(readAll(['id: 7\nevent: step\ndata: {"a":1}\n\n'])).toEqual([{ id: '7', event: 'step', data: '{"a":1}' }])
})

it('joins lines of data, takes one blank away, and knows fields without it', () => {
  expect(readAll(['data:a\ndata:  b\ndata\nid:1\n\n'])).toEqual([{ id: '1', event: '', data: 'a\n b\n' }])
})

it('leaves out comments, unknown fields and frames without data', () => {
  expect(readAll([': ping\n\n', 'retry: 1\n\n', ': ping\ndata: x\nother: y\n\n', 'id: 4\n\n'])).toEqual([
    { id: '', event: '', data: 'x' },
  ])
})

it('waits for the end of a frame', () => {
  const read = createFrameReader()
  expect(read('data: a\n')).toEqual([])
  expect(read('data: b')).toEqual([])
  expect(read('\n\ndata: c')).toEqual([{ id: '', event: '', data: 'a\nb' }])
})

it.each(['\n', '\r\n', '\r'])('reads the same however the text is cut, with %j at the end of lines', (end) => {
  const text = ': hello\n\nid: 1\nevent: lines\ndata: á\ndata: 😀\n\n:\n\nid: 2\ndata: {"t":"x: y"}\n\n'
  const whole = readAll([text])
  expect(whole).toHaveLength(2)
  const sent = text.replaceAll('\n', end)
  fc.assert(
    fc.property(fc.array(fc.nat(sent.length), { maxLength: 8 }), (cuts) => {
      const places = [0, ...cuts.sort((a, b) => a - b), sent.length]
      const pieces = places.slice(1).map((place, index) => sent.slice(places[index], place))
      expect(readAll(pieces)).toEqual(whole)
    }),
  )
  expect(readAll([...sent])).toEqual(whole)
})

it('is not slowed down by a frame that comes in many pieces', () => {
  const read = createFrameReader()
  const started = performance.now()
  for (let piece = 0; piece < 20_000; piece++) read('x'.repeat(50))
  expect(performance.now() - started).toBeLessThan(2_000)
  read('\n\n')
})
