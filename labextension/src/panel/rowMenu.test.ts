// @vitest-environment jsdom
import { CommandRegistry } from '@lumino/commands';
import { fireEvent } from '@testing-library/react';
import { afterEach, expect, it, vi } from 'vitest';

import type { Chat } from '../protocol/generated';
import { COMMANDS, menuShower } from './rowMenu';

// JupyterLab's components look at it when they are loaded
vi.hoisted(() => vi.stubGlobal('matchMedia', () => ({ matches: false })));

const CHAT = { id: 'c1', unread: false, pinned: false, archived: false } as Chat;
const frame = () => new Promise(done => requestAnimationFrame(done));

function showMenu(execute: () => void = () => undefined): HTMLElement {
  const commands = new CommandRegistry();
  commands.addCommand(COMMANDS.pin, { label: 'Pin', execute });
  menuShower(commands)(CHAT, { x: 0, y: 0 }, 'list');
  return document.querySelector<HTMLElement>('.lm-Menu')!;
}

function press(menu: HTMLElement, keyCode: number): void {
  fireEvent.keyDown(menu, { keyCode });
}

function field(): HTMLElement {
  return document.body.appendChild(document.createElement('input'));
}

afterEach(() => document.body.replaceChildren());

it('Escape gives the focus back to the row', async () => {
  const row = field();
  row.focus();
  const menu = showMenu();
  await frame();
  expect(menu.contains(document.activeElement)).toBe(true);
  press(menu, 27);
  await frame();
  expect(document.activeElement).toBe(row);
});

it('a command that takes the focus keeps it', async () => {
  const row = field();
  const name = field();
  row.focus();
  const menu = showMenu(() => name.focus());
  await frame();
  press(menu, 40);
  press(menu, 13);
  await frame();
  expect(document.activeElement).toBe(name);
});
