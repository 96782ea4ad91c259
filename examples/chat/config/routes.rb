# frozen_string_literal: true

Chat.routes do
  resource :sign_up, only: [:new, :create]
  resource :sign_in, only: [:new, :create, :destroy]
  resources :devices, only: [:index, :destroy] do
    delete :others, on: :collection
  end
  resource :password, only: [:edit, :update]
  resources :password_resets, only: [:new, :create, :edit, :update], param: :token
  root to: "rooms#index"
  resources :rooms, only: [:index, :show, :new, :create] do
    resources :messages, only: [:index, :create]
  end
  mount Chat.cable, at: "/cable"
end
