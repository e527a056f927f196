/** The scenes of the story page, after the pictures of the visual target. */
import { ASK_STORIES } from './asks';
import { END_STORIES } from './ends';
import type { Story } from './story';
import { TURN_STORIES } from './turns';

export const STORIES: Record<string, Story> = { ...TURN_STORIES, ...ASK_STORIES, ...END_STORIES };
