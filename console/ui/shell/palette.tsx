import { useNavigate } from '@tanstack/react-router'
import { useEffect, useId, useRef, useState } from 'preact/hooks'

interface PaletteProps {
  entries: readonly { to: string; name: string }[]
}

const SESSION_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Goes anywhere by typing: opened by Ctrl+K or Command+K. */
export function Palette({ entries }: PaletteProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const navigate = useNavigate()
  const list = useId().replaceAll(':', '')
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      setText('')
      setChosen(0)
      dialog.current?.showModal()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  const found = findTargets(text, entries)
  const go = (index: number) => {
    const target = found[index]
    if (!target) return
    dialog.current?.close()
    void navigate({ to: target.to })
  }
  return (
    <dialog ref={dialog} class="palette" aria-label="Go to">
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={found.length > 0 ? `${list}-${chosen}` : undefined}
        aria-label="Screen, words of a request, or a session id"
        placeholder="Go to a screen, search requests, or paste a session id"
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value)
          setChosen(0)
        }}
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
          if (step !== undefined) {
            event.preventDefault()
            setChosen((before) => Math.min(Math.max(0, before + step), found.length - 1))
          } else if (event.key === 'Enter') go(chosen)
        }}
      />
      <div id={list} role="listbox" aria-label="Targets" class="palette-list">
        {found.map(({ to, name }, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys of the list are those of its input
          <div
            key={to}
            id={`${list}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onClick={() => go(index)}
          >
            {name}
          </div>
        ))}
      </div>
    </dialog>
  )
}

function findTargets(text: string, entries: PaletteProps['entries']) {
  const words = text.trim().toLowerCase()
  const screens = entries.filter(({ name }) => name.toLowerCase().includes(words))
  if (words === '') return screens
  if (SESSION_ID.test(words)) return [{ to: `/sessions/${words}`, name: `Session ${words}` }, ...screens]
  return [
    ...screens,
    { to: `/sessions?search=${encodeURIComponent(text.trim())}`, name: `Sessions with “${text.trim()}”` },
  ]
}
