# frozen_string_literal: true

Rails.application.routes.draw do
  %w[plain wake visitor mail broadcast restart_cable counts].each { |name| get name, to: "pages##{name}" }
  %w[endless silent asleep lasting unread].each { |name| get "live/#{name}", to: "live##{name}" }
  get "streams/endless", to: "streams#endless"
  resources :documents, only: %i[create show]
end
