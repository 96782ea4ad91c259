# frozen_string_literal: true

Rails.application.routes.draw do
  get "meet", to: "pages#meet"
  get "current", to: "pages#current"
  get "version", to: "pages#version"
  get "failure", to: "pages#failure"
  get "pid", to: "pages#pid"
  post "upload", to: "pages#upload"
  get "live", to: "live#index"
  get "lease", to: "entries#lease"
  get "take_turns", to: "entries#take_turns"
  get "roll_back", to: "entries#roll_back"
  get "count", to: "entries#count"
  mount ActionCable.server => "/cable"
end
