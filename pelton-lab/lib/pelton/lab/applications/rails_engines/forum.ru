# frozen_string_literal: true

require_relative "forum/application"

run Rails.application
