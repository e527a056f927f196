// @vitest-environment jsdom
/** The side panel as a whole: find what was said and go there, delete and bring back, one draft on two devices. */
import { act, cleanup, fireEvent, render, screen, within } from '@testing-library/react';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { EventWriter } from '../testing/events';
import { chatRow, refusal } from '../testing/fake_server';
import { settle } from '../testing/panel_fixture';
import { sidePage } from '../testing/side_page';
import { SEARCH_PAUSE_MS } from '../state/search_store';

const scrolledTo: Element[] = [];

beforeAll(() => {
  // jsdom lays nothing out
  Element.prototype.scrollIntoView = function note(this: Element) {
    scrolledTo.push(this);
  };
  Object.defineProperty(HTMLElement.prototype, 'clientHeight', { value: 500 });
});
beforeEach(() => {
  scrolledTo.length = 0;
  localStorage.clear();
});
afterEach(() => {
  cleanup();
  document.body.replaceChildren();
});

const wait = (ms: number) => act(() => new Promise<void>(resolve => setTimeout(resolve, ms)));

async function until(found: () => unknown): Promise<void> {
  for (let tries = 0; tries < 200 && !found(); tries++) {
    await wait(20);
  }
}

function longChat() {
  const writer = new EventWriter();
  const said: number[] = [];
  for (let n = 0; n < 60; n++) {
    writer.begin(`r${n}`, `prompt ${n}`);
    said.push(writer.final(`t${n}`, `answer ${n}`).seq);
    writer.complete();
  }
  return { events: writer.events, said };
}

async function show(rows = [chatRow('c1', { title: 'Weekend error' })]) {
  const { events, said } = longChat();
  const page = sidePage(server => {
    server.rows = rows;
    server.events = events;
    server.draft = { text: '', attachments: [], revision: 0 };
    server.hits = [5, 59].map(n => ({
      chat_id: 'c1',
      seq: said[n]!,
      title: 'Weekend error',
      snippet: `\ue000answer\ue001 ${n}`,
      time: '2026-01-01T00:00:00.000Z',
    }));
  });
  render(page.element);
  await settle();
  return { ...page, said };
}

async function search(text: string): Promise<HTMLElement[]> {
  fireEvent.change(screen.getByRole('searchbox', { name: 'Search chats' }), {
    target: { value: text },
  });
  await wait(SEARCH_PAUSE_MS);
  await until(() => screen.queryAllByRole('button', { name: /answer/ }).length > 0);
  return screen.getAllByRole('button', { name: /answer/ });
}

describe('search', () => {
  it('goes to the place where it was said, far back in the chat, and marks it', async () => {
    const { session } = await show();
    const [early] = await search('answer');
    fireEvent.click(early!);
    await until(() => scrolledTo.length > 0);
    const found = scrolledTo[0] as HTMLElement;
    expect(found.textContent).toBe('answer 5');
    expect(found.dataset.acFound).toBe('true');
    expect(document.activeElement).toBe(found);
    expect(session.chat('c1').jump.getSnapshot()).toBeNull();
  });

  it('goes there too when the chat is open already', async () => {
    const { session, said } = await show();
    await act(async () => {
      session.chat('c1').open();
      await Promise.resolve();
    });
    const [, late] = await search('answer');
    fireEvent.click(late!);
    await until(() => scrolledTo.length > 0);
    await act(() => session.chat('c1').jump.to(said[20]!));
    await until(() => scrolledTo.at(-1)?.textContent === 'answer 20');
    expect(scrolledTo.at(-1)?.textContent).toBe('answer 20');
  });

  it('leaves the focus in a half-written message', async () => {
    const { session, said, model } = await show();
    act(() => model.openId.set('c1'));
    await settle();
    const field = screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Message' });
    act(() => field.focus());
    fireEvent.change(field, { target: { value: 'half a sen' } });
    await act(() => session.chat('c1').jump.to(said[58]!));
    await until(() => scrolledTo.length > 0);
    expect(scrolledTo[0]?.textContent).toBe('answer 58');
    expect(document.activeElement).toBe(field);
  });
});

describe('delete', () => {
  const row = (name: string) => screen.queryByRole('button', { name });
  const two = [chatRow('c1', { title: 'Weekend error' }), chatRow('c2', { title: 'Loader' })];

  it('takes an idle chat away without a question, and Undo brings it back', async () => {
    const { server } = await show(two);
    act(() => row('Loader')!.focus());
    fireEvent.keyDown(row('Loader')!, { key: 'Delete' });
    await settle();
    expect(screen.queryByRole('dialog')).toBeNull();
    expect(row('Loader')).toBeNull();
    // the next row has the focus, so that several can be deleted one after the other
    expect(document.activeElement).toBe(row('Weekend error'));
    const line = screen.getByRole('list', { name: 'Deleted chats' });
    expect(line.textContent).toContain('Deleted “Loader”.');
    fireEvent.click(within(line).getByRole('button', { name: 'Undo' }));
    await settle();
    expect(row('Loader')).not.toBeNull();
    expect(screen.queryByRole('list', { name: 'Deleted chats' })).toBeNull();
    expect(server.requestsTo('POST chats/c2/restore')).toHaveLength(1);
  });

  it('of a chat at work asks first', async () => {
    const { server, asked, answer } = await show([
      chatRow('c1', { title: 'Weekend error', state: 'running' }),
    ]);
    const pressDelete = async () => {
      fireEvent.keyDown(row('Weekend error')!, { key: 'Delete' });
      await settle();
    };
    await pressDelete();
    expect(asked).toEqual(['Weekend error']);
    expect(server.requestsTo('DELETE chats/c1')).toEqual([]);
    answer.stop = true;
    await pressDelete();
    expect(server.requestsTo('DELETE chats/c1')).toHaveLength(1);
  });

  it('and Undo: the chat reads as before, also where it was open', async () => {
    const { server, session, model } = await show(two);
    act(() => model.openId.set('c1'));
    await settle();
    expect(screen.getByText('answer 59')).toBeTruthy();
    await act(() => session.list.remove('c1'));
    act(() => server.sockets.last.say({ type: 'chat_deleted', chat_id: 'c1' }));
    await settle();
    expect(screen.getByText('This chat was deleted.')).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Undo' }));
    await until(() => !screen.queryByText('This chat was deleted.'));
    expect(screen.queryByText('This chat was deleted.')).toBeNull();
    expect(screen.getByText('answer 59')).toBeTruthy();
  });

  it('that cannot be undone any more says why', async () => {
    const { server } = await show(two);
    server.answers.set('POST chats/c2/restore', () => refusal('not_found', 404));
    fireEvent.keyDown(row('Loader')!, { key: 'Delete' });
    await settle();
    fireEvent.click(screen.getByRole('button', { name: 'Undo' }));
    await settle();
    expect(screen.getByRole('list', { name: 'Deleted chats' }).textContent).toContain('refused');
  });
});

describe('recently deleted', () => {
  const row = (name: string) => screen.queryByRole('button', { name });

  async function trashed() {
    const page = await show([chatRow('c1', { title: 'Loader' }), chatRow('c2', { title: 'Kept' })]);
    await act(() => page.session.list.remove('c1'));
    act(() => page.session.list.forgetDeleted('c1'));
    fireEvent.click(row('Recently deleted')!);
    await settle();
    return { ...page, list: screen.getByRole('list', { name: 'Recently deleted' }) };
  }

  it('says until when a chat is kept, and brings it back', async () => {
    const { list, server } = await trashed();
    const kept = new Date(Date.parse(server.deletedAt) + 7 * 86_400_000);
    const day = kept.toLocaleDateString(undefined, { day: 'numeric', month: 'short' });
    expect(list.textContent).toContain(`Kept until ${day}`);
    fireEvent.click(within(list).getByRole('button', { name: 'Restore “Loader”' }));
    await settle();
    await wait(20);
    expect(within(list).queryAllByRole('listitem')).toEqual([]);
    expect(screen.getByRole('status').textContent).toBe('“Loader” is back.');
    const back = row('Back to chats')!;
    expect(document.activeElement).toBe(back);
    fireEvent.click(back);
    expect(row('Loader')).not.toBeNull();
  });

  it('keeps what cannot be brought back, and says why', async () => {
    const { list, server } = await trashed();
    server.answers.set('POST chats/c1/restore', () => refusal('not_found', 404));
    fireEvent.click(within(list).getByRole('button', { name: 'Restore “Loader”' }));
    await settle();
    expect(within(list).getAllByRole('listitem')).toHaveLength(1);
    expect(screen.getByRole('alert').textContent).toContain('refused');
  });

  it('follows what others delete and restore', async () => {
    const { list, server } = await trashed();
    act(() => server.sockets.last.say({ type: 'chat', chat: chatRow('c1', { title: 'Loader' }) }));
    expect(within(list).queryAllByRole('listitem')).toEqual([]);
    act(() => server.sockets.last.say({ type: 'chat_deleted', chat_id: 'c1' }));
    await settle();
    expect(within(list).getAllByRole('listitem')).toHaveLength(1);
  });
});

describe('draft of another device', () => {
  async function conflict() {
    const page = await show();
    act(() => page.model.openId.set('c1'));
    await settle();
    const field = screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Message' });
    fireEvent.change(field, { target: { value: 'mine' } });
    page.server.draft = { text: 'from the phone', attachments: [], revision: 7 };
    fireEvent.blur(field);
    await until(() => screen.queryByRole('group', { name: 'Draft from another device' }));
    const line = screen.getByRole('group', { name: 'Draft from another device' });
    const press = async (name: string) => {
      fireEvent.click(within(line).getByRole('button', { name }));
      await settle();
    };
    return { ...page, field, line, press };
  }

  it('is offered above the composer, and nothing is overwritten', async () => {
    const { field, line, server } = await conflict();
    expect(line.textContent).toContain('from the phone');
    expect(field.value).toBe('mine');
    expect(server.draft?.text).toBe('from the phone');
  });

  it('"Use it" puts it into the field, and offers what stood there', async () => {
    const { field, press } = await conflict();
    await press('Use it');
    expect(field.value).toBe('from the phone');
    const earlier = screen.getByRole('group', { name: 'Earlier draft' });
    expect(earlier.textContent).toContain('mine');
    expect(document.activeElement).toBe(field);
  });

  it('"Keep mine" sends mine to the server', async () => {
    const { field, press, server } = await conflict();
    await press('Keep mine');
    expect(field.value).toBe('mine');
    expect(server.draft?.text).toBe('mine');
    expect(screen.queryByRole('group', { name: 'Draft from another device' })).toBeNull();
  });
});
