#ifndef PELTON_RUBY_REACTOR_TIMER_TABLE_CLASS_H
#define PELTON_RUBY_REACTOR_TIMER_TABLE_CLASS_H

/* Pelton::TimerTable. */
void pel_init_timer_table(void);

#endif
