import { useQueryClient } from '@tanstack/preact-query'
import { useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'preact/hooks'
import { calls } from '../../client/api/calls.ts'
import { usePlatform } from '../../client/platform.ts'
import { type FieldName, type Fields, findMissing, readRefusal, toBody } from './form.ts'
import { modeOf } from './modes.ts'

const CALLS = { generate: calls.generate, drift: calls.drift, import: calls.importResources }

type Errors = Partial<Record<FieldName, { text: string; value: string }>>

/** Sends the form, once at a time; `done` runs when the typed text is no longer needed. */
export function useRequest(fields: Fields, done: () => void) {
  const { api } = usePlatform()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [errors, setErrors] = useState<Errors>({})
  const [failure, setFailure] = useState<unknown>(null)
  const [sending, setSending] = useState(false)
  const lock = useRef(false)

  const refuse = (found: Partial<Record<FieldName, string>>) => {
    const entries = Object.entries(found) as [FieldName, string][]
    setErrors(Object.fromEntries(entries.map(([name, text]) => [name, { text, value: fields[name] }])))
    const first = (['q', 'repo_uri', 'engine_providers', 'scope_id', 'iac_path'] as const).find((name) => found[name])
    if (first) document.getElementById(idOf(first))?.focus()
    return entries.length > 0
  }
  const send = async () => {
    if (lock.current) return
    setFailure(null)
    if (refuse(findMissing(fields))) return
    lock.current = true
    setSending(true)
    try {
      const call = CALLS[modeOf(fields.mode).operation]
      const { session_id } = await call(api, { body: toBody(fields) })
      void client.invalidateQueries({ queryKey: ['sessions'] })
      done()
      await navigate({ to: '/sessions/$sessionId', params: { sessionId: session_id } })
    } catch (error) {
      const { fields: found, rest } = readRefusal(error)
      refuse(found)
      if (rest) setFailure(error)
    } finally {
      lock.current = false
      setSending(false)
    }
  }
  /** Returns the error of a field while it has the refused value. */
  const errorOf = (name: FieldName): string | undefined => {
    const error = errors[name]
    return error && error.value === fields[name] ? error.text : undefined
  }
  return { send, sending, failure, errorOf }
}

export const idOf = (name: FieldName): string => `start-${name}`
