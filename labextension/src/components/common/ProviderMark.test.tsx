// @vitest-environment jsdom
import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';

import { ProviderMark } from './ProviderMark';

afterEach(cleanup);

const AGENTS: [id: string, name: string, letter: string][] = [
  ['claude', 'Claude Code', 'C'],
  ['codex', 'Codex', 'X'],
  ['minimax', 'MiniMax', 'M'],
  ['opencode', 'opencode', 'O'],
  ['kimi', 'Kimi Code', 'K'],
  ['gemini', 'Gemini CLI', 'G'],
  ['qwen', 'Qwen Code', 'Q'],
  ['goose', 'Goose', 'S'],
  ['antigravity', 'Antigravity', 'A'],
];

test('each agent has a letter of its own, read out as its name', () => {
  AGENTS.forEach(([id, name]) => render(<ProviderMark key={id} id={id} name={name} />));
  const letters = AGENTS.map(([, name]) => screen.getByRole('img', { name }).textContent);
  expect(letters).toEqual(AGENTS.map(([, , letter]) => letter));
  expect(new Set(letters).size).toBe(AGENTS.length);
});

test('an agent spoken to by ACP looks like itself, and one that is not known has its first letter', () => {
  render(<ProviderMark id="codex-acp" name="Codex (ACP)" />);
  render(<ProviderMark id="own" name=" zed" />);
  render(<ProviderMark id={null} name="" />);
  expect(screen.getAllByRole('img').map(mark => mark.textContent)).toEqual(['X', 'Z', '?']);
});
