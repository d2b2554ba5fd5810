import { bytesOf, type Field, readFields } from '../../src/base/protobuf.ts'

type Value = string | number | boolean | null

/** A span as it was sent, with its resource. */
export interface ReceivedSpan {
  /** Value of the resource attribute `openinference.project.name`. */
  project: string
  resource: Record<string, Value>
  name: string
  trace_id: string
  span_id: string
  /** Null for a root span. */
  parent_id: string | null
  /** Milliseconds since 1970, with fractions. */
  start_ms: number
  end_ms: number
  status: 'unset' | 'ok' | 'error'
  status_message: string
  attributes: Record<string, Value>
  droppedAttributes: number
}

/** Reads the spans of an `ExportTraceServiceRequest` (OTLP, protobuf). Errors: `RangeError` or `TypeError`. */
export function readSpans(body: Uint8Array): ReceivedSpan[] {
  const spans: ReceivedSpan[] = []
  for (const request of readFields(body)) {
    if (request.number !== 1) continue
    const parts = [...readFields(bytesOf(request))]
    const resource = Object.assign({}, ...parts.filter(({ number }) => number === 1).map(readResource))
    for (const scope of parts.filter(({ number }) => number === 2))
      for (const part of readFields(bytesOf(scope)))
        if (part.number === 2) spans.push(readSpan(bytesOf(part), resource))
  }
  return spans
}

function readResource(field: Field): Record<string, Value> {
  return Object.fromEntries([...readFields(bytesOf(field))].filter(({ number }) => number === 1).map(readAttribute))
}

const STATUS = ['unset', 'ok', 'error'] as const

function readSpan(message: Uint8Array, resource: Record<string, Value>): ReceivedSpan {
  const span: ReceivedSpan = {
    project: String(resource['openinference.project.name'] ?? ''),
    resource,
    ...{ name: '', trace_id: '', span_id: '', parent_id: null, start_ms: 0, end_ms: 0 },
    ...{ status: 'unset', status_message: '', attributes: {}, droppedAttributes: 0 },
  }
  for (const field of readFields(message)) {
    if (field.number === 1) span.trace_id = hex(field)
    else if (field.number === 2) span.span_id = hex(field)
    else if (field.number === 4) span.parent_id = hex(field) || null
    else if (field.number === 5) span.name = textOf(field)
    else if (field.number === 7) span.start_ms = millisecondsOf(field)
    else if (field.number === 8) span.end_ms = millisecondsOf(field)
    else if (field.number === 9) Object.assign(span.attributes, Object.fromEntries([readAttribute(field)]))
    else if (field.number === 10) span.droppedAttributes = Number(numberOf(field))
    else if (field.number === 15) readStatus(field, span)
  }
  return span
}

function readStatus(status: Field, span: ReceivedSpan): void {
  for (const field of readFields(bytesOf(status))) {
    if (field.number === 2) span.status_message = textOf(field)
    else if (field.number === 3) span.status = STATUS[Number(numberOf(field))] ?? 'unset'
  }
}

function readAttribute(pair: Field): [string, Value] {
  let key = ''
  let value: Value = null
  for (const field of readFields(bytesOf(pair))) {
    if (field.number === 1) key = textOf(field)
    else if (field.number === 2) value = readValue(field)
  }
  return [key, value]
}

/** Reads a simple value. Lists and nested values are ignored. */
function readValue(any: Field): Value {
  for (const field of readFields(bytesOf(any))) {
    if (field.number === 1) return textOf(field)
    if (field.number === 2) return numberOf(field) !== 0n
    if (field.number === 3) return Number(BigInt.asIntN(64, numberOf(field)))
    if (field.number === 4) return eightBytes(field).getFloat64(0, true)
  }
  return null
}

const millisecondsOf = (field: Field): number => Number(eightBytes(field).getBigUint64(0, true)) / 1e6
const hex = (field: Field): string => Buffer.from(bytesOf(field)).toString('hex')

const decoder = new TextDecoder('utf-8', { fatal: true })

const textOf = (field: Field): string => decoder.decode(bytesOf(field))
const numberOf = ({ value }: Field): bigint => {
  if (typeof value !== 'bigint') throw new RangeError('a field is no number where one should be')
  return value
}
/** Returns a view of a little-endian field of eight bytes. */
function eightBytes(field: Field): DataView {
  const bytes = bytesOf(field)
  if (bytes.length !== 8) throw new RangeError('a field has another length')
  return new DataView(bytes.buffer, bytes.byteOffset, 8)
}
