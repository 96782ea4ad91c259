# frozen_string_literal: true

# Methods for all templates.
module ApplicationHelper
  def time_of(message) = message.created_at&.strftime("%H:%M")
end
